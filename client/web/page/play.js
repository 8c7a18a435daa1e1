// The page's side of the client in WebAssembly: WebTransport, clock, storage, sound and gamepads,
// as functions that `client/web/src/imports.rs` declares. It is loaded after miniquad's script,
// as its plugin.
(() => {
  "use strict";

  // Constants of the wire; see shared/netcode/WIRE.md.
  const PATH = "/phaselock";
  const DIGEST = "sha256:";
  const WEB = "web:";
  const PREFACE = 1;
  const CHALLENGE_BYTES = 32;
  const MESSAGE_BYTES_MAX = 8192;
  const BINDING_LABEL = "phaselock web binding\0";

  // Timeouts in milliseconds: for one address, as in the native client, and for a whole attempt.
  const CONNECT_MS = 4000;
  const OPEN_MS = 20000;
  // Milliseconds within which a page reloads itself at most once.
  const RELOAD_MS = 60000;
  // Milliseconds for which a saved file stays in memory.
  const SAVED_MS = 60000;
  // Maximum number of events waiting for a frame; if the page stalls for longer, datagrams are lost.
  const EVENTS_MAX = 2048;
  const EVENTS_FULL_MS = 20;
  // Maximum number of datagrams waiting to be read, and milliseconds for which one waits to be sent.
  const DATAGRAMS_MAX = 64;
  const DATAGRAM_AGE_MS = 100;

  const [CONNECTED, CONTROL, DATAGRAM, SAID, LOST] = [1, 2, 3, 4, 5];

  const encoder = new TextEncoder();
  const decoder = new TextDecoder();
  const link = new URLSearchParams(location.search);
  const german = (navigator.language || "").toLowerCase().startsWith("de");
  const say = (english, deutsch) => (german ? deutsch : english);

  /** Whether the client has crashed. */
  let isBroken = false;

  const byId = (id) => document.getElementById(id);

  /** Shows a sentence over the picture; an empty one removes it. */
  function word(text) {
    byId("text").textContent = text;
    byId("loaded").hidden = true;
    byId("word").hidden = text === "";
  }

  // ---- bytes of WebAssembly ----------------------------------------------------------------

  const bytesAt = (at, count) => new Uint8Array(wasm_memory.buffer, at, count).slice();
  const textAt = (at, count) => decoder.decode(new Uint8Array(wasm_memory.buffer, at, count));

  function put(at, bytes) {
    new Uint8Array(wasm_memory.buffer, at, bytes.length).set(bytes);
  }

  // ---- clock -------------------------------------------------------------------------------

  let latest = 0;

  /** Microseconds since the page began; never less than before. */
  function now() {
    latest = Math.max(latest, performance.now() * 1000);
    return latest;
  }

  // ---- events ------------------------------------------------------------------------------

  let events = [];

  function push(kind, body, arrival = now()) {
    if (kind === DATAGRAM && events.length >= EVENTS_MAX) return;
    const event = new Uint8Array(9 + body.length);
    event[0] = kind;
    new DataView(event.buffer).setFloat64(1, arrival, true);
    event.set(body, 9);
    events.push(event);
  }

  // ---- the player's key --------------------------------------------------------------------

  /** The result of an IndexedDB request. */
  const answered = (request) => new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });

  let keys = null;

  /** The player's key pair, stored by the browser, which never reveals the private key. */
  async function keyPair() {
    if (keys) return keys;
    try {
      const opening = indexedDB.open("phaselock", 1);
      opening.onupgradeneeded = () => opening.result.createObjectStore("keys");
      const base = await answered(opening);
      const store = (mode) => base.transaction("keys", mode).objectStore("keys");
      keys = await answered(store("readonly").get("player"));
      if (!keys) {
        const made = await crypto.subtle.generateKey("Ed25519", false, ["sign", "verify"]);
        // Another tab may have been faster; then its key counts.
        try {
          await answered(store("readwrite").add(made, "player"));
        } catch {
          // It is there by now.
        }
        keys = (await answered(store("readonly").get("player"))) || made;
      }
    } catch {
      // A private window stores nothing: use a key for this visit.
      keys = await crypto.subtle.generateKey("Ed25519", false, ["sign", "verify"]);
    }
    return keys;
  }

  /** Key and proof for a server, by its known name and its challenge. */
  async function credentials(challenge, name, context) {
    const bound = [encoder.encode(BINDING_LABEL), challenge, encoder.encode(name)];
    const binding = new Uint8Array(await crypto.subtle.digest("SHA-256", joined(bound)));
    return signature(joined([context, binding]));
  }

  /** The player's key, and its signature of a text. */
  async function signature(text) {
    const pair = await keyPair();
    const made = await crypto.subtle.sign("Ed25519", pair.privateKey, text);
    const key = await crypto.subtle.exportKey("raw", pair.publicKey);
    return joined([new Uint8Array(key), new Uint8Array(made)]);
  }

  function joined(parts) {
    const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
    let at = 0;
    for (const part of parts) {
      whole.set(part, at);
      at += part.length;
    }
    return whole;
  }

  // ---- the server --------------------------------------------------------------------------

  /** Facts about the page's server, or about the one in the link. */
  let home = {};

  const after = (ms) => new Promise((done) => setTimeout(done, ms));

  const within = (promise, text, ms = CONNECT_MS) => Promise.race([
    promise,
    after(ms).then(() => { throw new Error(text); }),
  ]);

  /** Fetches the server's facts from next to the page, or from another server's page. */
  async function look(host) {
    const from = host ? `https://${host}/server.json` : "server.json";
    const signal = AbortSignal.timeout(CONNECT_MS);
    const answer = await fetch(from, { cache: "no-store", signal }).catch(() => null);
    const told = answer?.ok ? await answer.json().catch(() => null) : null;
    if (!told) {
      throw new Error(say(
        "the page's server does not answer",
        "der Server der Seite antwortet nicht",
      ));
    }
    return told;
  }

  const bytesOf = (digits) => Uint8Array.from(digits.match(/../g) || [], (it) => parseInt(it, 16));

  /**
   * Address of the game and identity of its server; no facts about a server without a page. A
   * server that a directory or a redirect has named ends with `#web:` and the digests of its
   * certificates for browsers, or none if an authority has signed it for this host. If a redirect
   * does not name them, it may end with `#` and the fingerprint of the server's certificate.
   */
  async function destination(redirect) {
    const [address, fingerprint = ""] = redirect.split("#");
    const asked = address || link.get("server") || "";
    let facts = null;
    if (fingerprint.startsWith(WEB)) {
      facts = { hashes: fingerprint.slice(WEB.length).split(",").filter(Boolean) };
    } else {
      try {
        facts = await look(asked);
        if (!redirect) home = facts;
      } catch (error) {
        // Another server may have no page; its certificate may be from an authority, or one that
        // browsers accept by its digest.
        if (!asked) throw error;
      }
    }
    const beside = asked || location.host;
    const at = new URL(`https://${beside}${PATH}`);
    if (facts?.port) at.port = facts.port;
    else if (!asked && !location.port) at.port = location.protocol === "http:" ? 80 : 443;
    // Servers show browsers another certificate than the one with this fingerprint, unless theirs is
    // an authority's. So the page of the redirect's address counts first, and the client sends no
    // ticket.
    const told = fingerprint.startsWith(DIGEST) ? [fingerprint.slice(DIGEST.length), null] : [];
    const hashes = facts?.hashes || told;
    const urls = [at];
    // A browser tries QUIC only at the first address of a name, and the server may be at another.
    if (hashes.length && at.hostname === "localhost") {
      for (const hostname of ["127.0.0.1", "[::1]"]) {
        const other = new URL(at);
        other.hostname = hostname;
        urls.push(other);
      }
    }
    return { asked, facts, urls, hashes };
  }

  const SILENCE = "silence";

  /** Why a server could not be reached, as a sentence for the player. */
  function unreached({ message }, { asked, facts }) {
    if (!facts) {
      return say(
        `${asked} cannot be reached: it is down, refuses players from this page, or has a certificate that this browser does not trust; open https://${asked}/ once`,
        `${asked} ist nicht erreichbar: Er ist aus, nimmt keine Spieler von dieser Seite an, oder dieser Browser vertraut seinem Zertifikat nicht; öffne einmal https://${asked}/`,
      );
    }
    const isLocal = /^[\d.]+$|^\[|^localhost$/.test(location.hostname);
    if (!asked && facts.host && isLocal) {
      const there = `https://${facts.host}${location.port && `:${location.port}`}/`;
      return say(
        `the server's certificate is for another name: open ${there} instead of this page`,
        `das Zertifikat des Servers gilt für einen anderen Namen: öffne statt dieser Seite ${there}`,
      );
    }
    return message === SILENCE
      ? say(
        "the server does not answer; its UDP port may be blocked",
        "der Server antwortet nicht; vielleicht ist sein UDP-Port gesperrt",
      )
      : say(
        `the browser cannot connect to the server, which may be down or blocked (${message})`,
        `der Browser bekommt keine Verbindung zum Server; er ist aus oder gesperrt (${message})`,
      );
  }

  // ---- a connection ------------------------------------------------------------------------

  let connection = null;

  class Connection {
    constructor(context) {
      this.context = context;
      this.isOver = false;
    }

    end(kind, body) {
      if (this.isOver) return;
      this.isOver = true;
      push(kind, body);
    }

    /**
     * Opens a session at the first of these places that has one, with a certificate of one of these
     * digests or of an authority. Returns the name that the server has proven: the browser has been
     * told one digest at a time, so that it is clear which, and no server is proven another's name.
     */
    async reach(place) {
      const { hashes } = place;
      let failure = null;
      for (const url of place.urls) {
        for (const hash of hashes.length ? hashes : [null]) {
          if (this.isOver) return null;
          const known = hash ? [{ algorithm: "sha-256", value: bytesOf(hash) }] : [];
          const transport = new WebTransport(url.href, {
            requireUnreliable: true,
            congestionControl: "low-latency",
            serverCertificateHashes: known,
          });
          transport.closed.catch(() => {});
          this.transport = transport;
          try {
            await within(transport.ready, SILENCE);
            return hash ? `sha-256:${hash}` : `host:${url.host}`;
          } catch (error) {
            failure = error;
            transport.close();
          }
          // Another digest does not make it answer.
          if (failure.message === SILENCE) break;
        }
      }
      throw new Error(unreached(failure, place));
    }

    async open(redirect) {
      const name = await this.reach(await destination(redirect));
      if (this.isOver) return;
      this.ended = this.transport.closed.then(
        (info) => this.closed(info),
        () => this.closed(null),
      );
      const stream = await this.transport.createBidirectionalStream();
      this.writer = stream.writable.getWriter();
      this.reader = stream.readable.getReader();
      this.unread = new Uint8Array(0);
      // A browser may not report a stream before something was written to it.
      await this.writer.write(new Uint8Array([PREFACE]));
      const challenge = await this.read(CHALLENGE_BYTES);
      const proven = await credentials(challenge, name, this.context);
      if (this.isOver) return;
      const { datagrams } = this.transport;
      datagrams.incomingHighWaterMark = DATAGRAMS_MAX;
      datagrams.outgoingMaxAge = DATAGRAM_AGE_MS;
      const writable = datagrams.createWritable ? datagrams.createWritable() : datagrams.writable;
      this.datagrams = writable.getWriter();
      push(CONNECTED, proven);
      this.messages = this.readMessages();
      this.readDatagrams();
    }

    /** Reads this many bytes of the game's stream. */
    async read(count) {
      while (this.unread.length < count) {
        const { value, done } = await this.reader.read();
        if (done) throw new Error("the server has closed the stream");
        this.unread = this.unread.length ? joined([this.unread, value]) : value;
      }
      const bytes = this.unread.slice(0, count);
      this.unread = this.unread.subarray(count);
      return bytes;
    }

    async readMessages() {
      try {
        for (;;) {
          const [low, high] = await this.read(2);
          const count = low | (high << 8);
          if (count > MESSAGE_BYTES_MAX) throw new Error("a message is too long");
          const body = await this.read(count);
          // None of these is lost: while the page stalls, the server waits.
          while (events.length >= EVENTS_MAX && !this.isOver) await after(EVENTS_FULL_MS);
          if (!this.isOver) push(CONTROL, body);
        }
      } catch {
        // The connection's end says why.
      }
    }

    async readDatagrams() {
      const reader = this.transport.datagrams.readable.getReader();
      try {
        for (;;) {
          const { value, done } = await reader.read();
          if (done) return;
          if (!this.isOver) push(DATAGRAM, value);
        }
      } catch {
        // Likewise.
      }
    }

    /** The last message may say why, and is passed on first. */
    async closed(info) {
      while (events.length >= EVENTS_MAX && !this.isOver) await after(EVENTS_FULL_MS);
      await Promise.race([this.messages, after(200)]);
      if (info && info.closeCode) {
        const code = new Uint8Array(4);
        new DataView(code.buffer).setUint32(0, info.closeCode, true);
        this.end(SAID, joined([code, encoder.encode(info.reason || "")]));
      } else {
        this.end(LOST, encoder.encode("the connection was lost"));
      }
    }

    close(code, text) {
      this.isOver = true;
      try {
        this.transport?.close({ closeCode: code, reason: text });
      } catch {
        // It was never open, or has ended.
      }
    }
  }

  function connect(redirect, context) {
    connection?.close(0, "");
    const begun = new Connection(context);
    connection = begun;
    const stuck = say(
      "the server stopped answering while connecting",
      "der Server antwortet beim Verbinden nicht mehr",
    );
    within(begun.open(redirect), stuck, OPEN_MS).catch(async (error) => {
      // A server that has ended the session says why.
      if (begun.ended) await Promise.race([begun.ended, after(300)]);
      begun.end(LOST, encoder.encode(String(error.message)));
      begun.close(0, "");
    });
  }

  // ---- a directory -------------------------------------------------------------------------

  /** Answers of directories that the client has not fetched, and the most bytes of one. */
  const answers = [];
  const ANSWERS_MAX = 16;
  const ANSWER_BYTES_MAX = 2048;

  /** Reads a body of limited size. */
  async function bodyOf(answer) {
    const parts = [];
    let bytes = 0;
    for (const reader = answer.body.getReader(); ;) {
      const { value, done } = await reader.read();
      if (done) return joined(parts);
      bytes += value.length;
      if (bytes > ANSWER_BYTES_MAX) {
        reader.cancel();
        throw new Error("the answer is too long");
      }
      parts.push(value);
    }
  }

  /** Signs a text for a directory with the player's key, as an answer with status 1. */
  async function sign(number, text) {
    try {
      queueAnswer(number, 1, await signature(text));
    } catch {
      // The client goes on without.
    }
  }

  /** Queues an answer of a directory: its number, status and body. */
  function queueAnswer(number, status, body) {
    const head = new DataView(new ArrayBuffer(6));
    head.setUint32(0, number, true);
    head.setUint16(4, status, true);
    if (answers.length < ANSWERS_MAX) answers.push(joined([new Uint8Array(head.buffer), body]));
  }

  /** Asks a directory by HTTP. The answer has the question's number; its status is 0 without one. */
  async function ask(number, url, question) {
    let [status, body] = [0, new Uint8Array(0)];
    try {
      const answer = await fetch(url, {
        method: "POST",
        body: question,
        cache: "no-store",
        credentials: "omit",
        redirect: "error",
        signal: AbortSignal.timeout(CONNECT_MS),
      });
      if (answer.ok) body = await bodyOf(answer);
      status = answer.status;
    } catch {
      // The client asks again.
    }
    queueAnswer(number, status, body);
  }

  // ---- a recording -------------------------------------------------------------------------

  /** A file that is downloaded, with a limit of its size. */
  class Download {
    constructor(url, bytesMax) {
      Object.assign(this, { bytesMax, parts: [], bytes: 0, size: -1, state: 0, error: "" });
      this.abort = new AbortController();
      this.read(url).then(
        () => { this.state = 1; },
        (error) => {
          [this.parts, this.state, this.error] = [[], -1, String(error.message)];
          this.abort.abort();
        },
      );
    }

    /** Reads from a URL, or the file that was dropped on the page. */
    async read(url) {
      const body = url === "" ? this.open(dropped) : await this.ask(new URL(url, location.href));
      if (this.size > this.bytesMax) throw this.tooLarge();
      for (const reader = body.getReader(); ;) {
        const { value, done } = await reader.read();
        if (done) return;
        if (this.bytes + value.length > this.bytesMax) throw this.tooLarge();
        this.bytes += value.length;
        this.parts.push(value);
      }
    }

    open(file) {
      this.size = file.size;
      return file.stream();
    }

    async ask(at) {
      const asked = { credentials: "omit", signal: this.abort.signal };
      const answer = await fetch(at, asked).catch(() => {
        throw new Error(say(
          "its server cannot be reached, or does not allow this page to read it",
          "ihr Server ist nicht erreichbar oder lässt diese Seite nicht darauf zugreifen",
        ));
      });
      if (!answer.ok) {
        throw new Error(say(
          `the server answers ${answer.status}`,
          `der Server antwortet mit ${answer.status}`,
        ));
      }
      // Of a compressed answer, the length is another.
      const length = answer.headers.get("content-length");
      if (length && !answer.headers.get("content-encoding")) this.size = Number(length);
      return answer.body;
    }

    tooLarge() {
      const most = Math.floor(this.bytesMax / 2 ** 20);
      return new Error(say(`it is larger than ${most} MiB`, `sie ist größer als ${most} MiB`));
    }

    take(to) {
      let at = to;
      for (const part of this.parts) {
        put(at, part);
        at += part.length;
      }
      this.parts = [];
    }
  }

  let download = null;
  /** The last file that was dropped on the page, and whether the client does not know it yet. */
  let dropped = null;
  let isNew = false;

  addEventListener("dragover", (event) => event.preventDefault());
  addEventListener("drop", (event) => {
    event.preventDefault();
    dropped = event.dataTransfer.files[0] ?? dropped;
    isNew = event.dataTransfer.files.length > 0;
  });

  function takeDropped() {
    const name = isNew ? dropped.name : null;
    isNew = false;
    return name;
  }

  /** Saves bytes as a file, as if the player had downloaded them. */
  function save(name, bytes) {
    const link = document.createElement("a");
    [link.download, link.href] = [name, URL.createObjectURL(new Blob([bytes]))];
    link.click();
    // The browser reads it later.
    setTimeout(() => URL.revokeObjectURL(link.href), SAVED_MS);
  }

  function stopDownload() {
    download?.abort.abort();
    download = null;
  }

  // ---- texts -------------------------------------------------------------------------------

  let found = new Uint8Array(0);

  function lookUp(name) {
    const [kind, rest] = [name.split(":", 1)[0], name.slice(name.indexOf(":") + 1)];
    switch (kind) {
      case "kept":
      case "tab":
        try {
          const storage = kind === "tab" ? sessionStorage : localStorage;
          return storage.getItem(`phaselock/${rest}`);
        } catch {
          return null;
        }
      case "link":
        return link.get(rest);
      case "whole link":
        return location.search;
      case "server":
        return home[rest] === undefined || home[rest] === null ? null : String(home[rest]);
      case "random":
        return [...crypto.getRandomValues(new Uint8Array(8))]
          .map((byte) => byte.toString(16).padStart(2, "0")).join("");
      case "host":
        return link.get("server") || location.host;
      case "dropped":
        return takeDropped();
      case "download error":
        return download?.error ?? "";
      case "language":
        return navigator.language || null;
      case "pointer":
        return matchMedia("(pointer: coarse)").matches ? "coarse" : "fine";
      default:
        return null;
    }
  }

  /** Reloads the page for the server's new build, but not twice in a row. */
  function reload() {
    const last = Number(lookUp("tab:reloaded") || 0);
    const since = Date.now() - last; // The clock may have been set back.
    if (since >= 0 && since < RELOAD_MS || !keep("tab:reloaded", String(Date.now()))) return 0;
    isPlaying = false;
    location.reload();
    return 1;
  }

  function keep(name, text) {
    try {
      if (name.startsWith("tab:")) sessionStorage.setItem(`phaselock/${name.slice(4)}`, text);
      else localStorage.setItem(`phaselock/${name}`, text);
      return 1;
    } catch {
      return 0;
    }
  }

  // ---- sound -------------------------------------------------------------------------------

  const FRAMES_WAITING_MAX = 9600;
  let sound = null;
  let handed = 0;
  let heard = 0;

  /** Browsers allow a page to play sound only after a key press or a click. */
  async function beginSound() {
    for (const kind of ["pointerdown", "keydown"]) removeEventListener(kind, beginSound, true);
    try {
      const context = new AudioContext({ sampleRate: 48000, latencyHint: "interactive" });
      await context.audioWorklet.addModule("sound.js");
      const node = new AudioWorkletNode(context, "phaselock", {
        numberOfInputs: 0,
        outputChannelCount: [2],
      });
      node.port.onmessage = ({ data }) => { heard = data; };
      node.connect(context.destination);
      await context.resume();
      sound = { context, node };
    } catch (error) {
      console.warn(`no sound: ${error}`);
    }
  }
  for (const kind of ["pointerdown", "keydown"]) addEventListener(kind, beginSound, true);

  // ---- letters -----------------------------------------------------------------------------

  /** Text of the field as passed to the client, letter by letter. */
  let told = [];

  function strike(code) {
    const key = into_sapp_keycode(code);
    wasm_exports.key_down(key, 0, false);
    wasm_exports.key_up(key, 0);
  }

  function press(letters) {
    for (const letter of letters) wasm_exports.key_press(letter.codePointAt(0));
  }

  /** Keys that are down on the canvas, which gets no key-up events once it loses the focus. */
  const held = new Set();

  function release() {
    for (const code of held) wasm_exports.key_up(into_sapp_keycode(code), 0);
    held.clear();
  }

  /** The client's field that the page's stands in for: its number or 0, and whether by touch. */
  let shown = { number: 0, isOnGlass: false };

  /**
   * Lets the page's field stand in for a field of the client. On glass it is visible, and a phone
   * shows its keyboard for it. With keys it is hidden: the client shows the letters. Only a field
   * gets the text of input methods and dictation, and letters that no key makes.
   */
  function write(number, most, isSecret, isOnGlass) {
    if (number === shown.number && isOnGlass === shown.isOnGlass) return;
    shown = { number, isOnGlass };
    const field = byId("field");
    field.hidden = number === 0;
    field.value = "";
    told = [];
    field.classList.toggle("sink", !isOnGlass);
    field.classList.remove("composing");
    if (number !== 0) {
      field.maxLength = most;
      field.type = isSecret ? "password" : "text";
      field.autocapitalize = isSecret ? "off" : "sentences";
      field.placeholder = isOnGlass ? say("Tap here to type", "Zum Schreiben hier tippen") : "";
      field.setAttribute("aria-label", say("Text for the game", "Text für das Spiel"));
      // Not now: the client is in the middle of a frame, and asks for this.
      setTimeout(release);
      field.focus();
    } else if (byId("out").hidden) {
      byId("glcanvas").focus();
    }
  }

  /** Characters that the client drops from its fields: `is_hidden` and `one_line` in `wire/text.rs`. */
  const HIDDEN =
    /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800\ufffc\u{1d159}\u{16fe4}]/gu;
  const BREAKS = /[\t-\r\x1c-\x1f\x85\u2028\u2029]+/g;

  const oneLine = (text) => text.replace(BREAKS, "\n").replace(/\n$/, "").replace(/ ?\n/g, " ")
    .replace(HIDDEN, "");

  /** Removes from a field what the client would not show, so that both have the same letters. */
  function dropHidden(field) {
    const { value, selectionStart } = field;
    const seen = value.replace(HIDDEN, "");
    if (seen === value) return;
    const caret = value.slice(0, selectionStart).replace(HIDDEN, "").length;
    field.value = seen;
    field.setSelectionRange(caret, caret);
  }

  /** Passes the current letters of a touch field to the client. */
  function follow(field) {
    const letters = [...field.value];
    let same = 0;
    while (same < told.length && letters[same] === told[same]) same += 1;
    for (let count = told.length; count > same; count -= 1) strike("Backspace");
    press(letters.slice(same));
    told = letters;
  }

  /** Passes the letters of a hidden field to the client. */
  function drain(field) {
    press(field.value);
    field.value = "";
  }

  /** Passes the letters of a field on to the client. */
  function take(field) {
    if (!shown.isOnGlass) return drain(field);
    dropHidden(field);
    return follow(field);
  }

  /** Whether an input method has taken a key, or the key makes letters by itself. */
  function isText({ isComposing, keyCode, key, ctrlKey, altKey, metaKey }) {
    const hasCommand = (ctrlKey || metaKey) && !(ctrlKey && altKey);
    return isComposing || keyCode === 229 || ([...key].length === 1 && !hasCommand)
      || key === "Dead" || key === "Process";
  }

  function beginField() {
    const [field, canvas] = [byId("field"), byId("glcanvas")];
    canvas.addEventListener("keydown", ({ code }) => held.add(code));
    canvas.addEventListener("keyup", ({ code }) => held.delete(code));
    // A click on the picture leaves the letters where they were.
    canvas.addEventListener("focus", () => {
      if (shown.number !== 0 && !shown.isOnGlass) field.focus();
    });
    addEventListener("blur", release);
    field.addEventListener("paste", (event) => {
      // With keys miniquad hands it to the client, which is the canvas' business.
      if (!shown.isOnGlass) return;
      event.stopPropagation();
      // Some browsers drop line breaks, which glues words together.
      const pasted = event.clipboardData?.getData("text/plain");
      if (!pasted) return;
      event.preventDefault();
      const { value, maxLength, selectionStart, selectionEnd } = field;
      const room = maxLength - value.length + selectionEnd - selectionStart;
      // Not half of a character that takes two units of UTF-16.
      const line = oneLine(pasted).slice(0, room).replace(/[\ud800-\udbff]$/, "");
      field.setRangeText(line, selectionStart, selectionEnd, "end");
      field.dispatchEvent(new Event("input"));
    });
    field.addEventListener("compositionstart", () => field.classList.add("composing"));
    field.addEventListener("compositionend", () => {
      field.classList.remove("composing");
      take(field);
    });
    field.addEventListener("input", ({ isComposing }) => {
      if (!isComposing) take(field);
      else if (shown.isOnGlass) follow(field);
    });
    field.addEventListener("keydown", (event) => {
      if (shown.isOnGlass) return keyOnGlass(field, event);
      if (isText(event)) return undefined;
      if (event.key === "Enter" || event.key === "Escape") event.preventDefault();
      return canvas.onkeydown(event);
    });
    field.addEventListener("keyup", (event) => {
      if (!shown.isOnGlass && !isText(event)) canvas.onkeyup(event);
    });
  }

  function keyOnGlass(field, event) {
    if (event.isComposing) return;
    if (event.key === "Backspace" && field.value === "") strike("Backspace");
    if (event.key !== "Enter" && event.key !== "Escape") return;
    event.preventDefault();
    strike(event.key);
    field.value = "";
    told = [];
  }

  // ---- the page around the game ------------------------------------------------------------

  /** Whether a game is running, which would be lost by closing the tab. */
  let isPlaying = false;

  addEventListener("beforeunload", (event) => {
    if (!isPlaying) return;
    event.preventDefault();
    // For browsers before 2023.
    event.returnValue = true;
  });

  /** Puts the names of game and server into the tab's title. */
  function entitle({ title, server }) {
    const names = [title, server === "Phaselock" ? "" : server, "Phaselock"].filter(Boolean);
    const text = names.join(" · ");
    if (document.title === text) return;
    document.title = text;
    byId("glcanvas").setAttribute("aria-label", text);
  }

  /** Lets the keyboard leave the game, which takes all keys. */
  function beginExit() {
    const [out, canvas] = [byId("out"), byId("glcanvas")];
    out.textContent = say(
      "The browser has the keyboard. Press Enter to return to the game.",
      "Der Browser hat die Tastatur. Mit der Eingabetaste geht das Spiel weiter.",
    );
    byId("keys").textContent = say(
      "The game has the keyboard. Press Ctrl+M to return it to the browser.",
      "Das Spiel hat die Tastatur. Strg+M gibt sie dem Browser zurück.",
    );
    const goBack = () => {
      out.hidden = true;
      (shown.number === 0 ? canvas : byId("field")).focus();
    };
    addEventListener("keydown", (event) => {
      const isOut = event.code === "KeyM" && event.ctrlKey && !event.altKey && !event.shiftKey;
      if (!isOut || !out.hidden) return;
      event.preventDefault();
      event.stopPropagation();
      release();
      out.hidden = false;
      out.focus();
    }, true);
    out.addEventListener("click", goBack);
    canvas.addEventListener("pointerdown", () => { out.hidden = true; });
  }

  // A recording can be watched upright.
  let isWatching = link.has("replay");
  const upright = matchMedia("(orientation: portrait) and (pointer: coarse)");

  /** Asks the player to turn a phone, so that thumbs and game fit side by side. */
  function askToTurn() {
    byId("turn").hidden = isWatching || !upright.matches;
  }

  function beginTurn() {
    byId("turn").textContent = say("Turn your phone to play.", "Dreh dein Telefon zum Spielen.");
    upright.addEventListener("change", askToTurn);
    askToTurn();
  }

  // ---- the plugin --------------------------------------------------------------------------

  function registerFunctions(importObject) {
    Object.assign(importObject.env, {
      phaselock_now: now,
      phaselock_unix_of_start: () => performance.timeOrigin * 1000,
      phaselock_connect: (to, toBytes, context, contextBytes) =>
        connect(textAt(to, toBytes), bytesAt(context, contextBytes)),
      phaselock_control: (at, count) => {
        connection?.writer?.write(bytesAt(at, count)).catch(() => {});
      },
      phaselock_datagram: (at, count) => {
        connection?.datagrams?.write(bytesAt(at, count)).catch(() => {});
      },
      phaselock_close: (code, at, count) => connection?.close(code, textAt(at, count)),
      phaselock_ask: (number, url, urlBytes, question, questionBytes) => {
        ask(number, textAt(url, urlBytes), bytesAt(question, questionBytes));
      },
      phaselock_sign: (number, text, textBytes) => {
        sign(number, bytesAt(text, textBytes));
      },
      phaselock_answer_bytes: () => (answers.length ? answers[0].length : -1),
      phaselock_answer: (to) => put(to, answers.shift()),
      phaselock_download: (url, urlBytes, bytesMax) => {
        stopDownload();
        download = new Download(textAt(url, urlBytes), bytesMax);
      },
      phaselock_download_stop: stopDownload,
      phaselock_download_state: () => download?.state ?? -1,
      phaselock_download_bytes: () => download?.bytes ?? 0,
      phaselock_download_size: () => download?.size ?? -1,
      phaselock_download_take: (to) => download?.take(to),
      phaselock_save: (name, nameBytes, bytes, count) =>
        save(textAt(name, nameBytes), bytesAt(bytes, count)),
      phaselock_event_bytes: () => (events.length ? events[0].length : -1),
      phaselock_event: (to) => put(to, events.shift()),
      phaselock_text_bytes: (at, count) => {
        const text = lookUp(textAt(at, count));
        if (text === null) return -1;
        found = encoder.encode(text);
        return found.length;
      },
      phaselock_text: (to) => put(to, found),
      phaselock_keep: (name, nameBytes, text, textBytes) =>
        keep(textAt(name, nameBytes), textAt(text, textBytes)),
      phaselock_publish_status: (at, count) => {
        // It plays, whatever error another script had.
        if (!isBroken) word("");
        const status = JSON.parse(textAt(at, count));
        window.phaselock = { status };
        isPlaying = status.is_playing === true;
        isWatching = Boolean(status.replay) || status.screen === "download";
        askToTurn();
        entitle(status);
      },
      phaselock_held: takeHeld,
      phaselock_reload: reload,
      phaselock_is_hidden: () => (document.hidden ? 1 : 0),
      phaselock_sound_waiting: () => {
        if (!sound || sound.context.state !== "running") return -1;
        return Math.max(0, handed - heard);
      },
      phaselock_sound: (at, count) => {
        if (!sound || handed - heard > FRAMES_WAITING_MAX) return;
        const samples = new Float32Array(wasm_memory.buffer, at, count).slice();
        handed += count / 2;
        sound.node.port.postMessage(samples, [samples.buffer]);
      },
      phaselock_pad: (to, most) => {
        const pad = [...navigator.getGamepads()].find((it) => it && it.mapping === "standard");
        if (!pad) return 0;
        const values = new Float32Array(most);
        values.set(pad.axes.slice(0, 4));
        pad.buttons.slice(0, most - 4).forEach((it, at) => { values[4 + at] = it.value; });
        new Float32Array(wasm_memory.buffer, to, most).set(values);
        return most;
      },
      phaselock_write: (number, most, isSecret, isOnGlass) =>
        write(number, most, isSecret === 1, isOnGlass === 1),
      phaselock_shake: (strength, duration) => {
        const pad = [...navigator.getGamepads()].find((it) => it && it.vibrationActuator);
        pad?.vibrationActuator.playEffect("dual-rumble", {
          duration, strongMagnitude: strength, weakMagnitude: strength,
        }).catch(() => {});
      },
    });
  }

  miniquad_add_plugin({ register_plugin: registerFunctions, name: "phaselock", version: 1 });

  // ---- a hidden page -----------------------------------------------------------------------

  // Browsers stop the frames of such a page, and slow its timers down; not those of a worker.
  const timer = new Worker("timer.js");
  timer.onmessage = ({ data }) => {
    late = Math.max(late, data.late);
    queued = Math.max(queued, performance.timeOrigin + performance.now() - data.sent);
    if (document.hidden && wasm_exports && !isBroken) wasm_exports.frame();
  };

  // Messages from the worker's timer distinguish a busy machine from slow frames: they wait for all
  // other work of this page's thread, and come late if the worker was woken late.
  let late = 0;
  let queued = 0;
  /** Milliseconds that the last frame took, drawing included. */
  let worked = 0;

  /** Wraps a function that advances the client by a frame, and measures its time. */
  const timed = (frame) => () => {
    const began = performance.now();
    frame();
    worked = performance.now() - began;
  };

  /** Longest time since the last call that other work kept the page waiting, in microseconds. */
  function takeHeld() {
    const heldUp = Math.max(late, queued - worked, 0);
    late = queued = 0;
    return heldUp * 1000;
  }

  // ---- begin -------------------------------------------------------------------------------

  function fail(message) {
    word(say(
      `Something went wrong (${message}). Reload the page.`,
      `Etwas ist schiefgegangen (${message}). Lade die Seite neu.`,
    ));
  }
  addEventListener("error", ({ error, message }) => {
    isBroken ||= error instanceof WebAssembly.RuntimeError;
    fail(message);
  });

  addEventListener("contextmenu", (event) => event.preventDefault());

  async function lacking() {
    if (!isSecureContext) {
      return say(
        "Open this page over https. Without it, browsers do not allow game connections.",
        "Öffne diese Seite über https. Ohne https erlauben Browser keine Verbindung für Spiele.",
      );
    }
    const browsers = say(
      "Use a current Chrome, Edge or Firefox, or Safari 26.4 or later.",
      "Nimm ein aktuelles Chrome, Edge oder Firefox, oder Safari ab Version 26.4.",
    );
    // A recording needs no connection and no key.
    const watches = link.has("replay");
    const reasons = [
      [!watches && typeof WebTransport === "undefined", say("It lacks WebTransport.", "Ihm fehlt WebTransport.")],
      [typeof WebAssembly === "undefined", say("It lacks WebAssembly.", "Ihm fehlt WebAssembly.")],
      [!document.createElement("canvas").getContext("webgl"), say("It lacks WebGL.", "Ihm fehlt WebGL.")],
    ];
    try {
      if (!watches) await crypto.subtle.generateKey("Ed25519", false, ["sign", "verify"]);
    } catch {
      reasons.push([true, say("It lacks Ed25519.", "Ihm fehlt Ed25519.")]);
    }
    const reason = reasons.find(([lacks]) => lacks);
    const title = say("This browser cannot play.", "Dieser Browser kann nicht spielen.");
    return reason ? `${title} ${reason[1]} ${browsers}` : "";
  }

  // The client is loaded in parallel; its size is filled in when the page is built.
  const WASM_BYTES = 0;
  const loading = load();
  // The caller that awaits it handles a failure.
  loading.catch(() => {});

  async function load() {
    const answer = await fetch("phaselock.wasm");
    if (!answer.ok) throw new Error(`the page's server answers with ${answer.status}`);
    show(answer.clone()).catch(() => {});
    return WebAssembly.compileStreaming(answer);
  }

  /** Shows how much of an answer has come. */
  async function show(answer) {
    const bar = byId("loaded");
    let bytes = 0;
    for (const reader = answer.body.getReader(); ;) {
      const { value, done } = await reader.read();
      if (done) break;
      bytes += value.length;
      if (WASM_BYTES > 0) bar.value = Math.min(1, bytes / WASM_BYTES);
    }
    bar.value = 1;
    // It is being compiled now, whose progress is unknown.
    bar.removeAttribute("value");
  }

  async function begin() {
    if (german) document.documentElement.lang = "de";
    if (german) byId("text").textContent = "Lädt …";
    beginField();
    beginExit();
    beginTurn();
    const sentence = await lacking();
    if (sentence) return word(sentence);
    try {
      home = await look(link.get("server") || "");
    } catch {
      // Joining says so.
    }
    try {
      await run();
    } catch (error) {
      fail(error.message);
    }
  }

  /** Starts the client as miniquad's own script would, but reports errors. */
  async function run() {
    register_plugins(plugins);
    const module = await loading;
    add_missing_functions_stabs(module);
    const { exports } = await WebAssembly.instantiate(module, importObject);
    wasm_memory = exports.memory;
    wasm_exports = { ...exports, frame: timed(exports.frame) };
    if (exports.crate_version() !== version) throw new Error("the page's parts are of two builds");
    init_plugins(plugins);
    exports.main();
  }
  addEventListener("DOMContentLoaded", begin);
})();
