//! Functions of the page, `page/play.js`. Bytes are passed as a pointer and a count. Before it
//! returns, the page reads them, or writes as many as it announced.

#![expect(unsafe_code, reason = "foreign functions need an unsafe extern block")]

unsafe extern "C" {
    /// Time since the page started, in microseconds.
    pub(crate) safe fn phaselock_now() -> f64;
    /// Unix time of that start, in microseconds.
    pub(crate) safe fn phaselock_unix_of_start() -> f64;
    /// Connects to the server at `to`, or to the page's own if that is empty: an address, and after
    /// a `#` a fingerprint, or `web:` and the digests by which browsers recognize the server. The
    /// proof of the player's key signs `context` first.
    pub(crate) safe fn phaselock_connect(
        to: *const u8,
        to_bytes: usize,
        context: *const u8,
        context_bytes: usize,
    );
    /// Sends a framed control message.
    pub(crate) safe fn phaselock_control(bytes: *const u8, count: usize);
    /// Sends a datagram at once, or drops it.
    pub(crate) safe fn phaselock_datagram(bytes: *const u8, count: usize);
    /// Closes the connection, or gives up the attempt.
    pub(crate) safe fn phaselock_close(code: u32, text: *const u8, count: usize);
    /// Sends a directory at `url` a question by HTTP. The answer gets this number.
    pub(crate) safe fn phaselock_ask(
        number: u32,
        url: *const u8,
        url_bytes: usize,
        question: *const u8,
        question_bytes: usize,
    );
    /// Signs a text with the player's key. The answer gets this number, and 1 in place of a status;
    /// its body is the key and the signature.
    pub(crate) safe fn phaselock_sign(number: u32, text: *const u8, text_bytes: usize);
    /// Length of the next answer of a directory in bytes; -1 if there is none.
    pub(crate) safe fn phaselock_answer_bytes() -> i32;
    /// Writes the next answer of a directory to `to`: number, status (u16), and body.
    pub(crate) safe fn phaselock_answer(to: *mut u8);
    /// Starts to download a recording of at most this many bytes, in place of an earlier one.
    /// An empty URL reads the file that was dropped on the page last.
    pub(crate) safe fn phaselock_download(url: *const u8, url_bytes: usize, bytes_max: f64);
    /// Ends the download, and forgets it.
    pub(crate) safe fn phaselock_download_stop();
    /// State of the download: 0 while it runs, 1 when it is complete, -1 when it has failed.
    pub(crate) safe fn phaselock_download_state() -> i32;
    /// Bytes that have arrived.
    pub(crate) safe fn phaselock_download_bytes() -> f64;
    /// Bytes of the whole file, as far as the server says; -1 if it does not.
    pub(crate) safe fn phaselock_download_size() -> f64;
    /// Writes the bytes that have arrived to `to`, and forgets them.
    pub(crate) safe fn phaselock_download_take(to: *mut u8);
    /// Saves bytes as a file, as downloads are saved.
    pub(crate) safe fn phaselock_save(
        name: *const u8,
        name_bytes: usize,
        bytes: *const u8,
        count: usize,
    );
    /// Length of the next event in bytes; -1 if there is none.
    pub(crate) safe fn phaselock_event_bytes() -> i32;
    /// Writes the next event to `to`.
    pub(crate) safe fn phaselock_event(to: *mut u8);
    /// Looks up a text by its name and returns its length in bytes; -1 if there is none.
    pub(crate) safe fn phaselock_text_bytes(name: *const u8, count: usize) -> i32;
    /// Writes the text that was looked up last to `to`.
    pub(crate) safe fn phaselock_text(to: *mut u8);
    /// Stores a text under its name. Returns 0 if the browser refuses.
    pub(crate) safe fn phaselock_keep(
        name: *const u8,
        name_bytes: usize,
        text: *const u8,
        text_bytes: usize,
    ) -> i32;
    /// Passes the client's status to the page, as JSON.
    pub(crate) safe fn phaselock_publish_status(text: *const u8, count: usize);
    /// The longest time in microseconds for which the page had to wait since the last call. The
    /// last frame's own work does not count.
    pub(crate) safe fn phaselock_held() -> f64;
    /// Reloads the page. Returns 0 if that was done a moment ago.
    pub(crate) safe fn phaselock_reload() -> i32;
    /// 1 while the page is hidden.
    pub(crate) safe fn phaselock_is_hidden() -> i32;
    /// Number of queued frames of sound; -1 while there is no sound.
    pub(crate) safe fn phaselock_sound_waiting() -> i32;
    /// Queues frames of sound: left and right samples alternately.
    pub(crate) safe fn phaselock_sound(samples: *const f32, count: usize);
    /// Writes the values of a gamepad to `to` in the standard mapping, axes before buttons. Returns
    /// their number; 0 if there is no gamepad.
    pub(crate) safe fn phaselock_pad(to: *mut f32, most: usize) -> usize;
    /// Lets the page's text field stand in for the client's field `number`, with up to `most`
    /// letters; 0 hides it. If `is_secret` is 1, the letters are masked. If `is_on_glass` is 1, the
    /// field is visible.
    pub(crate) safe fn phaselock_write(number: u32, most: u32, is_secret: i32, is_on_glass: i32);
    /// Makes the gamepad rumble.
    pub(crate) safe fn phaselock_shake(strength: f32, millis: f32);
}
