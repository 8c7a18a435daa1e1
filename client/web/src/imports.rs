//! Functions of the page, `page/play.js`. Bytes are told by their place and number; the page reads
//! them, or writes as many as it said, before it returns.

#![expect(unsafe_code, reason = "functions of another language have to be declared so")]

unsafe extern "C" {
    /// Time since the page began, in microseconds.
    pub(crate) safe fn phaselock_now() -> f64;
    /// Unix time of that beginning, in microseconds.
    pub(crate) safe fn phaselock_unix_of_start() -> f64;
    /// Connects, to another server than the page's if its address is not empty; with the first
    /// bytes of what a proof signs.
    pub(crate) safe fn phaselock_connect(
        to: *const u8,
        to_bytes: usize,
        context: *const u8,
        context_bytes: usize,
    );
    /// Sends a framed control message.
    pub(crate) safe fn phaselock_control(bytes: *const u8, count: usize);
    /// Sends a datagram, now or never.
    pub(crate) safe fn phaselock_datagram(bytes: *const u8, count: usize);
    /// Ends the connection, or the attempt.
    pub(crate) safe fn phaselock_close(code: u32, text: *const u8, count: usize);
    /// Bytes of the next event; -1 if there is none.
    pub(crate) safe fn phaselock_event_bytes() -> i32;
    /// Writes the next event there.
    pub(crate) safe fn phaselock_event(to: *mut u8);
    /// Looks a text up by its name, and says how many bytes it has; -1 if there is none.
    pub(crate) safe fn phaselock_text_bytes(name: *const u8, count: usize) -> i32;
    /// Writes the text there that was looked up last.
    pub(crate) safe fn phaselock_text(to: *mut u8);
    /// Keeps a text by its name. 0 if the browser refuses.
    pub(crate) safe fn phaselock_keep(
        name: *const u8,
        name_bytes: usize,
        text: *const u8,
        text_bytes: usize,
    ) -> i32;
    /// Tells the page what is played, for whoever looks.
    pub(crate) safe fn phaselock_tell(text: *const u8, count: usize);
    /// The longest time in microseconds for which the page had to wait since the last call, less
    /// those that the last frame took to compute.
    pub(crate) safe fn phaselock_held(worked: f64) -> f64;
    /// Loads the page anew. 0 if it has just been.
    pub(crate) safe fn phaselock_reload() -> i32;
    /// 1 while nobody sees the page.
    pub(crate) safe fn phaselock_is_hidden() -> i32;
    /// Frames of sound that wait to be heard; -1 while there is no sound.
    pub(crate) safe fn phaselock_sound_waiting() -> i32;
    /// Takes frames of sound: samples for left and right in turn.
    pub(crate) safe fn phaselock_sound(samples: *const f32, count: usize);
    /// Writes the values of a gamepad there, as "standard" maps them, and says how many: axes, then
    /// buttons; 0 if there is none.
    pub(crate) safe fn phaselock_pad(to: *mut f32, most: usize) -> usize;
    /// Has the page's field stand for the client's of that number, for so many letters; nobody
    /// else may read them if `is_secret` is 1. It is seen if `is_on_glass` is 1. Number 0: none.
    pub(crate) safe fn phaselock_write(number: u32, most: u32, is_secret: i32, is_on_glass: i32);
    /// Shakes the gamepad.
    pub(crate) safe fn phaselock_shake(strength: f32, millis: f32);
}
