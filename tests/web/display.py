"""A virtual display, for pressing keys and reading pictures: Xvfb, libX11 and libXtst."""

import ctypes
import os
import subprocess

WIDTH, HEIGHT = 640, 360
Z_PIXMAP = 2
ALL_PLANES = ctypes.c_ulong(-1)


class Image(ctypes.Structure):
    """The first fields of Xlib's XImage."""

    _fields_ = [("width", ctypes.c_int), ("height", ctypes.c_int), ("xoffset", ctypes.c_int),
                ("format", ctypes.c_int), ("data", ctypes.POINTER(ctypes.c_char)),
                ("byte_order", ctypes.c_int), ("bitmap_unit", ctypes.c_int),
                ("bitmap_bit_order", ctypes.c_int), ("bitmap_pad", ctypes.c_int),
                ("depth", ctypes.c_int), ("bytes_per_line", ctypes.c_int)]


def library(name, **results):
    """A library, with the argument and return types of some of its functions."""
    it = ctypes.CDLL(name)
    for function, (result, *arguments) in results.items():
        getattr(it, function).restype = result
        getattr(it, function).argtypes = arguments
    return it


POINTER, INT, WORD = ctypes.c_void_p, ctypes.c_int, ctypes.c_ulong


def start(width, height):
    """Starts a virtual screen of this size; returns its process and its name."""
    told, tell = os.pipe()
    process = subprocess.Popen(
        ["Xvfb", "-displayfd", str(tell), "-screen", "0", f"{width}x{height}x24",
         "-nolisten", "tcp"], pass_fds=[tell], stderr=subprocess.DEVNULL)
    os.close(tell)
    # Up to the end of the line; before that the server is still writing.
    with os.fdopen(told) as lines:
        return process, ":" + lines.readline().strip()


class Display:
    """A screen for pressing keys and reading its picture, until it is closed."""

    def __init__(self):
        self.process, self.name = start(WIDTH, HEIGHT)
        self.x = library(
            "libX11.so.6", XOpenDisplay=(POINTER, ctypes.c_char_p),
            XDefaultRootWindow=(WORD, POINTER), XKeysymToKeycode=(ctypes.c_ubyte, POINTER, WORD),
            XStringToKeysym=(WORD, ctypes.c_char_p), XFlush=(INT, POINTER),
            XGetImage=(ctypes.POINTER(Image), POINTER, WORD, INT, INT, INT, INT, WORD, INT),
            XDestroyImage=(INT, POINTER), XCloseDisplay=(INT, POINTER))
        self.test = library(
            "libXtst.so.6", XTestFakeKeyEvent=(INT, POINTER, INT, INT, WORD),
            XTestFakeMotionEvent=(INT, POINTER, INT, INT, INT, WORD),
            XTestFakeButtonEvent=(INT, POINTER, INT, INT, WORD))
        self.opened = self.x.XOpenDisplay(self.name.encode())
        assert self.opened, f"there is no display {self.name}"
        self.root = self.x.XDefaultRootWindow(self.opened)

    def close(self):
        self.x.XCloseDisplay(self.opened)
        # It removes its socket.
        self.process.terminate()
        self.process.wait()

    def environment(self, **more):
        return dict(os.environ, DISPLAY=self.name, LIBGL_ALWAYS_SOFTWARE="1", **more)

    def key(self, name, is_down):
        """Presses or releases a key, by its name in X."""
        code = self.x.XKeysymToKeycode(self.opened, self.x.XStringToKeysym(name.encode()))
        self.test.XTestFakeKeyEvent(self.opened, code, is_down, 0)
        self.x.XFlush(self.opened)

    def click(self, x, y):
        """Clicks at a point, so that the window there has the keyboard."""
        self.test.XTestFakeMotionEvent(self.opened, -1, x, y, 0)
        for is_down in (1, 0):
            self.test.XTestFakeButtonEvent(self.opened, 1, is_down, 50)
        self.x.XFlush(self.opened)

    def pixels(self, x=0, y=0, width=None, height=None):
        """Pixels of a part of the screen, or all of it: blue, green, red and a pad byte, row by
        row."""
        width, height = width or WIDTH, height or HEIGHT
        image = self.x.XGetImage(
            self.opened, self.root, x, y, width, height, ALL_PLANES, Z_PIXMAP)
        it = image.contents
        bytes_ = ctypes.string_at(it.data, it.bytes_per_line * it.height)
        self.x.XDestroyImage(image)
        return bytes_
