// The administrator's page. Text from players and from the log is set as text, never as HTML.

const SPAN_MS = 120e3;      // time span of the charts
const SILENCE_MS = 6000;    // figures come once a second: a longer silence means a broken stream
const RETRY_MS_MAX = 15e3;
const ROWS_MAX = 200;       // of the player table
const LINES_MAX = 1000;     // of the log
const FEED_MAX = 200;
const RANK = { viewer: 1, moderator: 2, admin: 3 };
const LEVELS = ["ERROR", "WARN", "INFO", "DEBUG", "TRACE"];
const KEPT = "phaselock-token";
const UNKNOWN_TOKEN = "The server does not know this token; it may have been deleted. " +
  "Enter another one.";
const SOON_SECS = 14 * 86400;  // less time left means that renewal failed

// ---- Building elements; text is never parsed as HTML.

const $ = (selector, within = document) => within.querySelector(selector);
const $$ = (selector, within = document) => [...within.querySelectorAll(selector)];
function el(kind, attributes = {}, ...children) {
  const made = document.createElement(kind);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value != null) made.setAttribute(name, value);
  }
  made.append(...children.filter((child) => child != null));
  return made;
}
const name = (text) => el("bdi", {}, text);
/** Sets a text if it differs, so that an unchanged one costs nothing. */
const say = (node, text) => { if (node.textContent !== text) node.textContent = text; };
const show = (node, yes) => { if (node.hidden === yes) node.hidden = !yes; };

const letters = (text) => [...new Intl.Segmenter().segment(text)].map((it) => it.segment);
/** Sets a name so that both of its ends stay visible, however little space there is. */
function sayName(node, text) {
  if (node.title === text) return;
  node.title = text;
  // Text with both directions would be reordered if it were split in two.
  const turned = /[\p{sc=Arab}\p{sc=Hebr}\p{sc=Syrc}\p{sc=Thaa}\p{sc=Nkoo}]/u.test(text);
  const head = letters(turned ? middleCut(text, 18) : text);
  const tail = !turned && head.length > 12 ? head.splice(-6) : [];
  node.replaceChildren(el("span", {}, head.join("")), el("span", {}, tail.join("")));
}
/** Shortens a name in the middle to at most `most` letters. */
function middleCut(text, most) {
  const all = letters(text), end = Math.floor(most / 3);
  return all.length <= most ? text
    : `${all.slice(0, most - end - 1).join("")}…${all.slice(-end).join("")}`;
}

// ---- Numbers and times as text.

const NONE = "–";
const fixed = (value, digits) => value.toFixed(digits).replace(/^-(?=0(\.0+)?$)/, "");
const ms = (v) => (v == null ? NONE : `${fixed(v, v < 10 ? 1 : 0)} ms`);
const percent = (v) => (v == null ? NONE : `${fixed(v * 100, v >= 0.0005 && v < 0.1 ? 1 : 0)} %`);
const micros = (v) => (v == null ? NONE : v < 1000 ? `${fixed(v, 0)} µs` : ms(v / 1000));
function bytes(v) {
  if (v == null) return NONE;
  const unit = ["B", "kB", "MB", "GB", "TB"];
  let at = 0;
  while (v >= 1000 && at < 4) { v /= 1000; at += 1; }
  return `${fixed(v, at && v < 100 ? 1 : 0)} ${unit[at]}`;
}
const rate = (v) => (v == null ? NONE : `${bytes(v)}/s`);
function offset(v) {
  if (v == null) return NONE;
  const sign = v < 0 ? "−" : "+", size = Math.abs(v);
  if (size < 1e4) return `${sign}${fixed(size, 1)} ms`;
  return `${sign}${size < 1e6 ? `${fixed(size / 1e3, 1)} s` : span(size / 1e3)}`;
}
function span(secs) {
  secs = Math.max(0, Math.round(secs));
  const d = Math.floor(secs / 86400), h = Math.floor(secs / 3600) % 24;
  const m = Math.floor(secs / 60) % 60, s = secs % 60;
  if (d) return `${d} d ${h} h`;
  if (h) return `${h} h ${m} min`;
  return m ? `${m} min ${s} s` : `${s} s`;
}
const two = (v) => String(v).padStart(2, "0");
const clock = (t) => { t = new Date(t); return [t.getHours(), t.getMinutes(), t.getSeconds()]
  .map(two).join(":"); };
const date = (secs) => { const t = new Date(secs * 1000); return `${t.getFullYear()}-` +
  `${two(t.getMonth() + 1)}-${two(t.getDate())} ${clock(t)}`; };
const time = (at) => el("time", { datetime: new Date(at).toISOString() }, clock(at));

// ---- State.

let token = null, me = null, status = null, players = [];
let skew = 0;                        // the server's clock minus this one's, ms
let room = "";                       // the code of the one room shown, "" for all
let sort = { by: "seat", down: false };
let chosen = null;                   // the player of the open dialog
const courses = new Map();           // each player's values of the last 120 s, by id
const whole = { t: [], mean: [], p99: [], max: [], out: [], in: [], mid: [], high: [], late: [] };
const trouble = { dropped: 0, droppedAt: -Infinity, failed: 0, failedAt: -Infinity,
  tickAt: new Map() };
const lines = [];
const now = () => Date.now() + skew;
const can = (role) => me && RANK[me.role] >= RANK[role];
const idOf = (p) => `${p.room}/${p.seat}/${p.key}`;

// ---- Requests.

async function ask(verb, path, body) {
  let reply;
  try {
    reply = await fetch(path, {
      method: verb, cache: "no-store", signal: AbortSignal.timeout(15e3),
      headers: { Authorization: `Bearer ${token}`,
        ...(body && { "Content-Type": "application/json" }) },
      body: body && JSON.stringify(body),
    });
  } catch {
    throw new Error("The server does not answer. Try again later.");
  }
  const answer = await reply.json().catch(() => ({}));
  if (reply.ok) return answer;
  if (reply.status === 401) {
    logOut(UNKNOWN_TOKEN);
    throw new Error(UNKNOWN_TOKEN);
  }
  const text = [answer.error || `The server answered with status ${reply.status}.`,
    ...(Array.isArray(answer.mistakes) ? answer.mistakes : [])];
  const line = (it) => (typeof it === "string" ? it : JSON.stringify(it));
  throw new Error(text.map(line).join("\n"));
}
function note(text, bad = false) {
  const made = el("p", bad ? { class: "bad" } : {}, text), notes = $("#notes");
  notes.append(made);
  // Shown again, it lies above a dialog that was opened since.
  notes.hidePopover?.();
  notes.showPopover?.();
  setTimeout(() => { made.remove(); if (!notes.children.length) notes.hidePopover?.(); },
    bad ? 9000 : 4500);
}
const tried = (promise) => promise.catch((error) => note(error.message, true));
/** Runs a form's request with its button disabled, and shows an error below the form. */
function onSubmit(form, run) {
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const fault = $(".fault", form), button = event.submitter || $("button", form);
    if (fault) say(fault, "");
    button.disabled = true;
    try { await run(Object.fromEntries(new FormData(form)), form); }
    catch (error) { if (fault) say(fault, error.message); else note(error.message, true); }
    button.disabled = false;
  });
}
const filled = (body) => Object.fromEntries(Object.entries(body).filter(([, v]) => v !== ""));
function sure(title, text, button) {
  const dialog = $("#sure");
  say($("h2", dialog), title);
  say($("p", dialog), text);
  say($("[value=yes]", dialog), button);
  dialog.returnValue = "no";
  dialog.showModal();
  return new Promise((done) => dialog.addEventListener("close",
    () => done(dialog.returnValue === "yes"), { once: true }));
}

// ---- The event stream, which is reopened whenever it breaks.

let stream = null, retry = 0, retryAt = 0, retryTimer = 0, heard = 0;
async function listen() {
  clearTimeout(retryTimer);
  const mine = stream = new AbortController();
  retryAt = 0;
  heard = performance.now();
  pulse();
  try {
    const reply = await fetch("/v1/events", { cache: "no-store", signal: mine.signal,
      headers: { Authorization: `Bearer ${token}`, Accept: "text/event-stream" } });
    if (reply.status === 401) return logOut(UNKNOWN_TOKEN);
    if (!reply.ok) throw new Error();
    const reader = reply.body.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    for (;;) {
      const { value, done } = await reader.read();
      if (done || stream !== mine) break;
      heard = performance.now();
      const parts = (text + value).split(/\r?\n\r?\n/);
      text = parts.pop();
      for (const part of parts) receive(part);
    }
  } catch { /* Like a normal end: it is reopened. */ }
  if (stream !== mine) return;
  stream = null;
  const wait = Math.min(RETRY_MS_MAX, 1000 * 2 ** retry) * (0.8 + 0.4 * Math.random());
  retry += 1;
  retryAt = performance.now() + wait;
  retryTimer = setTimeout(listenAgain, wait);
  pulse();
}
let refresh = false;
function listenAgain() {
  // Requests what was missed once the server is back.
  refresh = true;
  listen();
}
function receive(part) {
  let kind = "message";
  const data = [];
  for (const line of part.split(/\r?\n/)) {
    if (line.startsWith("event:")) kind = line.slice(6).trim();
    else if (line.startsWith("data:")) data.push(line.slice(5).replace(/^ /, ""));
  }
  if (!data.length || !Object.hasOwn(events, kind)) return;
  let value;
  try { value = JSON.parse(data.join("\n")); } catch { return; }
  events[kind](value);
}
const events = {
  figures(it) {
    skew = it.time - Date.now();
    status = it.status;
    players = it.players;
    retry = 0;
    remember(it.time);
    draw();
    if (refresh) { refresh = false; tried(loadLog()); tried(loadChat()); open(view()); }
  },
  chat: (it) => chatted(it),
  joined: (it) => happened(it, " joined", it.address && ` from ${it.address}`),
  left: (it) => happened(it, " left", it.reason && `: ${it.reason}`),
  away: (it) => happened(it, " lost the connection"),
  resumed: (it) => happened(it, " is back"),
  moved: (it) => happened(it, " moved to a new address", `: ${it.address}`),
  game: (it) => feed("#event-feed", it, ["The game is now ", el("b", {}, it.name)]),
  round: (it) => feed("#event-feed", it, [`Round ${it.played} is over`]),
  report: (it) => feed("#event-feed", it, [...(it.player == null ? []
    : [el("b", {}, name(it.player)), ": "]), `${it.name} ${it.value}`]),
  log: (line) => { lines.push(line); addLine(line); },
  audit() { if (["audit", "bans", "server"].includes(view())) open(view()); },
  lost: (it) => feed("#event-feed", it, [`${it.count} events were skipped because this ` +
    "page was too slow"]),
};
const chatted = (it) => feed("#chat-feed", it, it.name == null
  ? [el("b", {}, "Host"), ": ", name(it.text)] : [el("b", {}, name(it.name)), ": ",
    name(it.text)], it.name == null && "host");
/** Loads the chat from before this page was opened. */
async function loadChat() {
  const before = await ask("GET", "/v1/chat?lines=200");
  $("#chat-feed").replaceChildren();
  for (const it of before) chatted(it);
}
const happened = (it, what, more) => feed("#event-feed", it,
  [el("b", {}, name(it.name)), what, more ? name(more) : null]);
function feed(at, it, parts, kind) {
  const list = $(at), end = atEnd(list);
  const many = status && status.rooms.length > 1 && it.room != null;
  list.append(el("li", { class: kind || null }, time(it.time ?? now()),
    many ? el("span", { class: "mark" }, name(it.room)) : null,
    ...parts.filter((part) => part != null)));
  while (list.children.length > FEED_MAX) list.firstChild.remove();
  if (end) list.scrollTop = list.scrollHeight;
}
const atEnd = (list) => list.scrollHeight - list.scrollTop - list.clientHeight < 40;

// ---- History of the last two minutes.

function remember(t) {
  const sum = status.rooms, before = whole.before;
  const most = (part) => (sum.length ? Math.max(...sum.map((r) => r.tick_micros[part])) : null);
  const late = sum.reduce((all, r) => all + r.late_inputs, 0), traffic = status.traffic;
  const since = before && (t - before.t) / 1000;
  const per = (value, old) => (since > 0.2 ? Math.max(0, value - old) / since : null);
  const pings = players.map((p) => p.ping).filter((v) => v != null).sort((a, b) => a - b);
  const at = (part) => (pings.length ? pings[Math.floor((pings.length - 1) * part)] : null);
  const value = { t, mean: most("mean"), p99: most("p99"), max: most("max"),
    out: before && per(traffic.bytes_out, before.out), mid: at(0.5), high: at(0.95),
    in: before && per(traffic.bytes_in, before.in), late: before && per(late, before.late) };
  whole.before = { t, out: traffic.bytes_out, in: traffic.bytes_in, late };
  keep(whole, value);
  const here = new Set();
  for (const p of players) {
    const id = idOf(p);
    here.add(id);
    if (!courses.has(id)) {
      courses.set(id, { t: [], ping: [], jitter: [], loss: [], offset: [], out: [], late: [] });
    }
    keep(courses.get(id), { t, ping: p.ping, jitter: p.jitter, offset: p.offset,
      loss: p.ping == null ? null : p.loss, out: p.bytes_out_per_second, late: p.late_inputs });
  }
  for (const id of courses.keys()) if (!here.has(id)) courses.delete(id);
  if (status.log.dropped > trouble.dropped && before) trouble.droppedAt = t;
  trouble.dropped = status.log.dropped;
  const failed = failedLogins();
  if (failed > trouble.failed && before) trouble.failedAt = t;
  trouble.failed = failed;
  for (const r of status.rooms) {
    const last = trouble.tickAt.get(r.code);
    if (!last || last.tick !== r.tick || r.asleep) {
      trouble.tickAt.set(r.code, { tick: r.tick, t });
    }
  }
}
const failedLogins = () => status.failed_logins.tokens + status.failed_logins.passwords;
function keep(course, value) {
  // If the clock was set back, the old values are dropped.
  if (value.t <= course.t.at(-1)) for (const key of keysOf(course)) course[key].length = 0;
  for (const key of keysOf(course)) course[key].push(value[key] ?? null);
  let old = 0;
  while (course.t[old] < value.t - SPAN_MS) old += 1;
  if (old) for (const key of keysOf(course)) course[key].splice(0, old);
}
const keysOf = (course) => Object.keys(course).filter((key) => Array.isArray(course[key]));

// ---- Charts.

let colours = {};
function readColours() {
  const style = getComputedStyle(document.documentElement);
  for (const it of ["one", "two", "three", "line", "soft", "text"]) {
    colours[it] = style.getPropertyValue(`--${it}`).trim();
  }
}
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  readColours();
  if (status) draw();
});
/** Rounds up to 1, 2 or 5 times a power of ten. */
function nice(v) {
  const ten = 10 ** Math.floor(Math.log10(v));
  return [1, 2, 5, 10].map((by) => by * ten).find((it) => it >= v * 0.999999) || v;
}
function plot(canvas, course, keys, scale, grid, mark) {
  const width = canvas.clientWidth, height = canvas.clientHeight;
  if (!width || !height) return;
  const dense = Math.min(3, devicePixelRatio || 1);
  const w = Math.round(width * dense), h = Math.round(height * dense);
  if (canvas.width !== w || canvas.height !== h) { canvas.width = w; canvas.height = h; }
  const pen = canvas.getContext("2d");
  pen.setTransform(dense, 0, 0, dense, 0, 0);
  pen.clearRect(0, 0, width, height);
  const [low, high] = scale, end = course.t.at(-1) ?? 0;
  const x = (t) => width - 2 - ((end - t) / SPAN_MS) * (width - 2);
  const y = (v) => height - 2 - ((v - low) / (high - low)) * (height - 4);
  if (grid) {
    pen.strokeStyle = colours.line;
    pen.lineWidth = 1;
    pen.beginPath();
    for (const v of [low, (low + high) / 2, high]) {
      pen.moveTo(0, Math.round(y(v)) + 0.5);
      pen.lineTo(width, Math.round(y(v)) + 0.5);
    }
    pen.stroke();
  }
  pen.lineJoin = pen.lineCap = "round";
  for (const [key, colour, thick] of keys) {
    pen.strokeStyle = pen.fillStyle = colours[colour];
    pen.lineWidth = thick;
    pen.beginPath();
    let drawing = false, last = null;
    course[key].forEach((v, at) => {
      const gap = at && course.t[at] - course.t[at - 1] > 3500;
      if (v == null) { drawing = false; return; }
      last = [x(course.t[at]), y(Math.min(high, Math.max(low, v)))];
      if (drawing && !gap) pen.lineTo(...last); else pen.moveTo(...last);
      drawing = true;
    });
    pen.stroke();
    if (last && drawing) { pen.beginPath(); pen.arc(...last, thick, 0, 7); pen.fill(); }
  }
  if (mark != null) {
    pen.strokeStyle = colours.text;
    pen.lineWidth = 1;
    pen.beginPath();
    pen.moveTo(x(course.t[mark]), 0);
    pen.lineTo(x(course.t[mark]), height);
    pen.stroke();
  }
}
const known = (list) => list.filter((v) => v != null);
const upTo = (least, ...lists) => [0, nice(Math.max(least, ...lists.flatMap(known)))];
/** Returns an offset's scale, centred on the median: the clocks may be hours apart. */
function around(list) {
  const sorted = known(list).sort((a, b) => a - b);
  if (!sorted.length) return [-5, 5];
  const mid = sorted[sorted.length >> 1];
  const far = nice(Math.max(2, sorted.at(-1) - mid, mid - sorted[0]));
  return [mid - far, mid + far];
}
function tile(title, keys, form, scaleOf, nowOf) {
  const value = el("span", { class: "now" }), canvas = el("canvas", { role: "img" });
  const top = el("small");
  const made = el("div", { class: "panel tile" },
    el("div", { class: "top" }, el("h2", {}, title), value), canvas,
    el("div", { class: "legend" }, ...keys.map(([, colour, , word]) => (word
      ? el("span", {}, el("i", { class: colour }), word) : null)),
    top));
  top.style.marginInlineStart = "auto";
  let hovered = null, course = null;
  const again = () => { if (course) paint(course); };
  canvas.addEventListener("pointermove", (event) => {
    hovered = event.offsetX / canvas.clientWidth;
    again();
  });
  canvas.addEventListener("pointerleave", () => { hovered = null; again(); });
  function paint(from) {
    course = from;
    const scale = scaleOf(course), end = course.t.at(-1);
    let at = null;
    if (hovered != null && course.t.length) {
      const t = end - (1 - hovered) * SPAN_MS;
      at = course.t.findIndex((it) => it >= t);
      if (at < 0) at = course.t.length - 1;
    }
    plot(canvas, course, keys, scale, true, at);
    const ago = at == null ? "" : `${Math.round((end - course.t[at]) / 1000)} s ago: `;
    const text = ago + nowOf(course, at ?? course.t.length - 1);
    say(value, text);
    const range = scale[0] ? `±${form((scale[1] - scale[0]) / 2)}` : `0 to ${form(scale[1])}`;
    say(top, range);
    const label = `${title}: ${text}`;
    if (canvas.getAttribute("aria-label") !== label) canvas.setAttribute("aria-label", label);
  }
  return { made, paint };
}
const few = (v) => (v == null ? NONE : `${fixed(v, v && v < 10 ? 1 : 0)}/s`);
const tiles = [
  tile("Tick, worst room", [["max", "three", 1, "max"], ["p99", "two", 1.5, "p99"],
    ["mean", "one", 1.75, "mean"]], micros, (c) => upTo(50, c.p99, c.mean, c.max),
  (c, at) => `${micros(c.p99[at])} p99`),
  tile("Traffic", [["in", "two", 1.5, "in"], ["out", "one", 1.75, "out"]], rate,
    (c) => upTo(1000, c.out, c.in), (c, at) => `${rate(c.out[at])} out`),
  tile("Ping", [["high", "two", 1.5, "p95"], ["mid", "one", 1.75, "median"]], ms,
    (c) => upTo(20, c.mid, c.high), (c, at) => `${ms(c.mid[at])} median`),
  tile("Late inputs", [["late", "one", 1.75, "all rooms"]], few, (c) => upTo(2, c.late),
    (c, at) => few(c.late[at])),
];
$("#tiles").append(...tiles.map((it) => it.made));
const value = (key, form) => (c, at) => form(c[key][at]);
const curves = [
  tile("Ping", [["ping", "one", 1.75]], ms, (c) => upTo(20, c.ping), value("ping", ms)),
  tile("Jitter", [["jitter", "one", 1.75]], ms, (c) => upTo(5, c.jitter), value("jitter", ms)),
  tile("Loss", [["loss", "one", 1.75]], percent, (c) => upTo(0.02, c.loss),
    value("loss", percent)),
  tile("Clock offset", [["offset", "one", 1.75]], ms, (c) => around(c.offset),
    value("offset", offset)),
];
$("#curves").append(...curves.map((it) => it.made));

// ---- Players.

const grade = (v, warn, bad) => (v == null || v < warn ? "" : v < bad ? "warn" : "bad");
function inMinute(course) {
  const from = course.t.findIndex((t) => t >= course.t.at(-1) - 60e3);
  return Math.max(0, (course.late.at(-1) ?? 0) - (course.late[from] ?? 0));
}
const columns = [
  { id: "name", title: "Player" },
  { id: "seat", title: "Seat" },
  { id: "score", title: "Score", full: "The player's score in the current game",
    text: (p) => [scores(p)] },
  { id: "ping", title: "Ping", line: (c) => upTo(50, c.ping), text: (p) => [ms(p.ping)],
    grade: (p) => grade(p.ping, 150, 300) },
  { id: "jitter", title: "Jitter", line: (c) => upTo(10, c.jitter), text: (p) => [ms(p.jitter)],
    grade: (p) => grade(p.jitter, 20, 50) },
  { id: "loss", title: "Loss", line: (c) => upTo(0.02, c.loss),
    text: (p) => [p.ping == null ? NONE : percent(p.loss)],
    grade: (p) => grade(p.loss, 0.01, 0.05) },
  { id: "offset", title: "Offset", line: (c) => around(c.offset),
    text: (p) => [offset(p.offset), p.offset_error == null ? "" : `±${fixed(p.offset_error, 1)}`],
    grade: (p) => grade(p.offset_error, 5, 20) },
  { id: "late", title: "Late", full: "Late inputs; in the last minute after the +",
    text: (p, c) => [String(p.late_inputs), inMinute(c) ? `+${inMinute(c)}` : ""],
    grade: (p, c) => grade(inMinute(c), 5, 60) },
  { id: "out", title: "Out", full: "Bytes sent to the player", line: (c) => upTo(1000, c.out),
    text: (p) => [rate(p.bytes_out_per_second)] },
];
const score = (it) => `${Number.isInteger(it.value) ? it.value : fixed(it.value, 2)}`;
const scores = (p) => (p.scores.length < 2 ? p.scores.map(score)
  : p.scores.map((it) => `${it.measure} ${score(it)}`)).join(", ") || NONE;
const sorted = {
  score: (p) => p.scores[0]?.value ?? -Infinity,
  name: (p) => p.name.toLocaleLowerCase(),
  seat: (p) => p.room.padStart(32) + String(p.seat).padStart(5), ping: (p) => p.ping ?? -1,
  jitter: (p) => p.jitter ?? -1, loss: (p) => p.loss, offset: (p) => p.offset ?? -Infinity,
  late: (p) => p.late_inputs, out: (p) => p.bytes_out_per_second,
};
function sortBy(id, down) {
  sort = { by: id, down };
  for (const head of $$("#players thead th[data-id]")) {
    if (head.dataset.id === id) head.ariaSort = down ? "descending" : "ascending";
    else head.removeAttribute("aria-sort");
  }
  $("#order").value = id;
  if (status) drawPlayers();
}
$("#players thead tr").append(...columns.map((it) => el("th", { role: "columnheader",
  scope: "col", class: `c-${it.id}`, "data-id": it.id, title: it.full },
el("button", { type: "button", onclick: () => sortBy(it.id,
  sort.by === it.id ? !sort.down : !["name", "seat"].includes(it.id)) }, it.title))),
el("th", { role: "columnheader", class: "c-act" }, el("span", { class: "out" }, "Actions")));
$("#order").append(...columns.map((it) => el("option", { value: it.id }, `By ${it.title
  .toLowerCase()}`)));
$("#order").addEventListener("change", (event) =>
  sortBy(event.target.value, !["name", "seat"].includes(event.target.value)));
$("#find").addEventListener("input", () => drawPlayers());
const rows = new Map();
function newRow(id) {
  const called = el("bdi", { class: "name" }), marks = el("small", { class: "marks" });
  const seat = el("span", { class: "v" }), cells = [];
  const button = el("button", { type: "button", class: "small" }, can("moderator") ? "More" :
    "Details");
  const row = el("tr", { role: "row" },
    el("th", { role: "rowheader", scope: "row", class: "c-name" }, called, marks));
  for (const it of columns.slice(1)) {
    const line = it.line && el("canvas", { "aria-hidden": "true" });
    const text = el("span"), more = el("small");
    const v = it.id === "seat" ? seat : el("span", { class: "v" }, text, more);
    row.append(el("td", { role: "cell", class: `c-${it.id}`, "data-label": it.title },
      el("span", { class: "cell" }, v, line || null)));
    if (it.id !== "seat") cells.push({ it, line, v, text, more });
  }
  row.append(el("td", { role: "cell", class: "act c-act" }, button));
  row.addEventListener("click", () => openPlayer(id));
  const made = { row, called, marks, seat, cells, button, marked: "", seen: false };
  row.made = made;
  rowObserver.observe(row);
  return made;
}
// Charts are drawn only for visible rows.
const rowObserver = new IntersectionObserver((entries) => {
  for (const entry of entries) {
    const made = entry.target.made;
    made.seen = entry.isIntersecting;
    if (made.seen) drawLines(made);
  }
}, { rootMargin: "120px" });
function drawLines(made) {
  const course = courses.get(made.id);
  if (!course) return;
  for (const { it, line } of made.cells) {
    if (line) plot(line, course, [[it.id, "one", 1.25]], it.line(course));
  }
}
function drawPlayers() {
  const wanted = $("#find").value.trim().toLocaleLowerCase();
  const matches = players.filter((p) => (!room || p.room === room) && (!wanted ||
    [p.name, p.key, p.address || ""].some((it) => it.toLocaleLowerCase().includes(wanted))));
  const key = sorted[sort.by];
  matches.sort((a, b) => {
    const [one, other] = sort.down ? [key(b), key(a)] : [key(a), key(b)];
    return one < other ? -1 : one > other ? 1 : a.seat - b.seat || (a.room < b.room ? -1 : 1);
  });
  const shown = matches.slice(0, ROWS_MAX), many = status.rooms.length > 1;
  const left = new Set(rows.keys()), body = $("#players tbody");
  let place = body.firstElementChild;
  for (const p of shown) {
    const id = idOf(p), course = courses.get(id);
    if (!rows.has(id)) rows.set(id, newRow(id));
    left.delete(id);
    const made = rows.get(id);
    made.id = id;
    sayName(made.called, p.name);
    made.button.ariaLabel = `${made.button.textContent}: ${p.name}`;
    say(made.seat, many ? `${p.room}·p${p.seat}` : `p${p.seat}`);
    const marks = [p.role && [p.role, "role"], p.muted && ["muted", "warn"],
      p.away && ["away", "warn"], p.idle >= 60 && [`idle ${span(p.idle)}`, ""]].filter(Boolean);
    if (made.marked !== String(marks)) {
      made.marked = String(marks);
      made.marks.replaceChildren(...marks.map(([text, kind]) =>
        el("span", { class: `mark ${kind}` }, text)));
    }
    for (const { it, v, text, more } of made.cells) {
      const [main, rest = ""] = it.text(p, course);
      say(text, main);
      say(more, rest);
      v.className = `v ${it.grade ? it.grade(p, course) : ""}`;
    }
    if (place === made.row) place = place.nextElementSibling;
    else body.insertBefore(made.row, place);
    if (made.seen) drawLines(made);
  }
  for (const id of left) {
    rowObserver.unobserve(rows.get(id).row);
    rows.get(id).row.remove();
    rows.delete(id);
  }
  const more = matches.length - shown.length;
  say($("#shown"), more ? `${shown.length} of ${matches.length}` : String(matches.length));
  show($("#players"), shown.length > 0);
  show($("#nobody"), !shown.length || more > 0);
  say($("#nobody"), more ? `${more} more are not shown. Search, or choose a room.`
    : players.length ? "No player matches." : "No one is playing right now.");
}

// ---- The overview.

function draw() {
  say($("#name"), status.name);
  document.title = `${status.players} · ${status.name} · Phaselock`;
  say($("#version"), `· ${status.version}`);
  say($("#count"), `${status.players} / ${status.seats}`);
  $("#count").title = "Players and seats";
  say($("#uptime"), `players, up ${span(status.now - status.started)}`);
  drawRooms();
  if (view() === "overview") {
    for (const it of tiles) it.paint(whole);
    drawPlayers();
  }
  if (chosen) drawPlayer();
  if (view() === "server") drawAbout();
  show($("#undrain"), Boolean(status.draining));
  show($("#skip"), status.next_restart != null && !status.draining);
  pulse();
}
const cards = new Map();
function drawRooms() {
  const codes = status.rooms.map((r) => r.code);
  if (room && !codes.includes(room)) room = "";
  const many = codes.length > 1;
  $("#rooms").classList.toggle("single", !many);
  for (const [code, card] of cards) {
    if (!codes.includes(code)) { card.made.remove(); cards.delete(code); }
  }
  for (const r of status.rooms) {
    if (!cards.has(r.code)) {
      const made = el("button", { type: "button", class: "room panel", onclick() {
        room = room === r.code || cards.size < 2 ? "" : r.code;
        draw();
      } }, el("b", {}, name(""), el("span", { class: "soft" })), el("span"),
      el("span", { class: "bar" }, el("i")), el("small", {}, el("span"), el("span")));
      $("#rooms").append(made);
      cards.set(r.code, { made, code: $("bdi", made), game: $("b .soft", made),
        count: made.children[1], bar: $("i", made), small: $("small", made) });
    }
    const card = cards.get(r.code), tick = r.tick_micros;
    say(card.code, `Room ${r.code}`);
    say(card.game, ` ${r.game}`);
    say(card.count, `${r.players} / ${r.seats}`);
    card.bar.style.width = `${Math.min(100, (100 * r.players) / Math.max(1, r.seats))}%`;
    const [good, bad] = card.small.children;
    say(good, [r.asleep ? "asleep" : "", `busy ${percent(r.busy)}`,
      `tick ${micros(tick.mean)}, p99 ${micros(tick.p99)}`,
      `round ${r.round}`, r.bots ? `${r.bots} bots` : "", r.open ? "" : "by code only",
      r.late_inputs ? `${r.late_inputs} late` : ""].filter(Boolean).join(" · "));
    say(bad, r.panics ? ` · ${r.panics} ${r.panics > 1 ? "panics" : "panic"}` : "");
    bad.className = "bad";
    card.made.ariaPressed = many ? String(room === r.code) : null;
  }
  const wanted = String(codes);
  for (const select of $$("select.rooms")) {
    if (select.dataset.codes === wanted) continue;
    const before = select.value;
    select.dataset.codes = wanted;
    select.replaceChildren(el("option", { value: "" }, "All rooms"),
      ...codes.map((code) => el("option", { value: code }, `Room ${code}`)));
    select.value = codes.includes(before) ? before : "";
    if (select.closest("#say")) show(select, many);
  }
  const games = $("#game select[name=game]");
  for (const select of [games, $("#records-of")]) {
    if (select.dataset.games === String(status.games)) continue;
    select.dataset.games = String(status.games);
    select.replaceChildren(...status.games.map((it) => el("option", { value: it }, it)));
  }
}
/** Updates what changes without new figures: connection, countdowns and banners. */
function pulse() {
  if (!token || !me) return;
  const quiet = performance.now() - heard > SILENCE_MS;
  if (stream && quiet) { stream.abort(); return; }
  const live = $("#live");
  const fresh = Boolean(stream && retry === 0 && status);
  live.className = fresh ? "good" : "warn";
  say(live, fresh ? "Live" : stream ? "Connecting" : "Not connected");
  const banners = [];
  if (!stream && retryAt) {
    const left = Math.max(0, Math.ceil((retryAt - performance.now()) / 1000));
    banners.push(["bad", "The connection to the server was lost.",
      `This page is out of date. Next try ${left ? `in ${left} s` : "now"}.`, "Try now"]);
  }
  if (status && status.draining) {
    const left = status.draining.until - now() / 1000;
    const [ends, ending] = status.draining.restart ? ["restarts", "restarting"]
      : ["stops", "stopping"];
    banners.push(["warn", left > 0 ? `The server ${ends} in ${span(left)}.` :
      `The server is ${ending}.`, [status.draining.text, status.draining.redirect &&
      `Players are sent to ${status.draining.redirect}.`].filter(Boolean).join(" ")]);
  }
  if (status && status.database !== "ok") {
    banners.push(["bad", "The database has a problem.", status.database]);
  }
  if (status && status.clock !== "ok") {
    banners.push(["warn", "The date may be wrong.", status.clock]);
  }
  if (status && status.keeping !== "ok") {
    banners.push(["bad", "Rooms cannot be saved.", status.keeping]);
  }
  const expires = status && status.certificate_expires;
  if (expires != null && expires - now() / 1000 < SOON_SECS) {
    const left = expires - now() / 1000;
    banners.push(left > 0 ? ["warn", `The certificate expires in ${span(left)}.`, "Renew it."]
      : ["bad", "The certificate has expired.", "Browsers refuse it. Renew it."]);
  }
  if (status && now() - trouble.failedAt < SPAN_MS) {
    banners.push(["warn", "Logins are failing.",
      `${status.failed_logins.tokens} with a wrong token and ` +
      `${status.failed_logins.passwords} with a wrong password since the start; see the log for ` +
      "their addresses."]);
  }
  if (status && now() - trouble.droppedAt < SPAN_MS) {
    banners.push(["warn", "The log is losing lines.", `${status.log.dropped} were dropped since ` +
      "the start because its file or reader is too slow."]);
  }
  for (const r of status ? status.rooms : []) {
    const last = trouble.tickAt.get(r.code);
    if (fresh && last && !r.asleep && whole.t.at(-1) - last.t > 2500) {
      banners.push(["bad", `Room ${r.code} is stalled.`, "Its world has not moved for " +
        `${span((whole.t.at(-1) - last.t) / 1000)}.`]);
    }
  }
  const said = JSON.stringify(banners), place = $("#banners");
  if (place.dataset.said === said) return;
  // A button with the focus stays: only the text around it changes.
  const held = $("button", place);
  place.dataset.said = said;
  place.replaceChildren(...banners.map(([kind, head, text, button]) => el("p", { class: kind },
    el("b", {}, head), name(text), button ? held || el("button", { class: "small",
      type: "button", onclick: () => { if (!stream) listenAgain(); } }, button) : null)));
  if (held && held.isConnected) held.focus();
}

// ---- The dialog for one player.

const FOR = {
  kick: [["", "No ban"], ["10m", "10 minutes"], ["1h", "1 hour"],
    ["1d", "1 day"]],
  mutes: [["10m", "10 minutes"], ["1h", "1 hour"], ["1d", "1 day"], ["7d", "7 days"],
    ["forever", "Forever"]],
  bans: [["1h", "1 hour"], ["1d", "1 day"], ["7d", "7 days"], ["30d", "30 days"],
    ["forever", "Forever"]],
};
const DO = { kick: "Kick", mutes: "Mute", bans: "Ban" };
const act = $("#act"), actForm = $("#act-form");
const player = () => players.find((p) => idOf(p) === chosen);
function openPlayer(id) {
  chosen = id;
  const p = player();
  if (!p) { chosen = null; return; }
  actForm.reset();
  say($(".fault", actForm), "");
  show(actForm, can("moderator") && (RANK[p.role] || 0) <= RANK[me.role]);
  chooseAct();
  act.showModal();
  drawPlayer();
  if (!actForm.hidden) $("input[name=act]", actForm).focus();
}
function chooseAct() {
  const kind = new FormData(actForm).get("act");
  // Only those who may ban forever are offered it.
  const offered = FOR[kind].filter(([it]) => it !== "forever" || kind !== "bans" || can("admin"));
  const first = kind === "bans" ? "1d" : kind === "mutes" ? "1h" : "";
  const chip = (value, text, more) => el("label", {}, el("input", { type: "radio", name: "for",
    value, checked: value === first }), el("span", {}, text), more || null);
  $("#for").replaceChildren(...offered.map(([value, text]) => chip(value, text)),
    chip("other", "Other"), el("input", { id: "custom", placeholder: "30m, 12h, 3d",
      pattern: "\\d+[smhd]", title: "A number and a unit: 30s, 10m, 2h, 7d", hidden: true,
      "aria-label": "Other duration" }));
  say($("#for-legend"), kind === "kick" ? "Also ban for" : "For");
  const p = player();
  $("#do-act").replaceChildren(`${DO[kind]} `, name(p ? middleCut(p.name, 24) : ""));
}
actForm.addEventListener("change", (event) => {
  if (event.target.name === "act") chooseAct();
  if (event.target.name === "for") {
    const other = event.target.value === "other", custom = $("#custom");
    show(custom, other);
    custom.required = other;
    if (other) custom.focus();
  }
});
onSubmit(actForm, async ({ act: kind, for: chosenFor, reason }) => {
  const p = player();
  if (!p) throw new Error("This player has left.");
  await ask("POST", `/v1/${kind}`, filled({ who: p.key, room: p.room, reason,
    for: chosenFor === "other" ? $("#custom").value : chosenFor }));
  note(`${{ kick: "Kicked", mutes: "Muted", bans: "Banned" }[kind]}: ${p.name}`);
  act.close();
});
$("#unmute").addEventListener("click", () => tried((async () => {
  const p = player();
  if (!p) throw new Error("This player has left.");
  await ask("DELETE", `/v1/mutes?who=${p.key}&room=${encodeURIComponent(p.room)}`);
  note(`No longer muted: ${p.name}`);
  act.close();
})()));
act.addEventListener("close", () => { chosen = null; });
$("[data-close]", act).addEventListener("click", () => act.close());
function drawPlayer() {
  const p = player();
  if (!p) {
    say($(".fault", actForm), "This player has left.");
    return;
  }
  say($("#act-title bdi"), p.name);
  facts($("#facts"), [
    ["Room and seat", `${p.room}, p${p.seat}`], ["Address", p.address || "away"],
    ["Key", p.key, "mono"], p.role && ["Role", p.role],
    ["Here for", span(now() / 1000 - p.joined) + (p.idle >= 5 ? `, idle ${span(p.idle)}` : "")],
    p.scores.length && ["Scores", p.scores.map((it) => `${it.measure} ${score(it)}`).join(", ")],
    ["Late inputs", String(p.late_inputs)], ["Sent to the player", rate(p.bytes_out_per_second)],
    p.muted && ["Muted", `${p.muted.until ? `until ${date(p.muted.until)}` : "forever"}${
      p.muted.reason ? `: ${p.muted.reason}` : ""}`]].filter(Boolean));
  show($("#unmute"), Boolean(p.muted) && !actForm.hidden);
  const course = courses.get(chosen);
  if (course) for (const it of curves) it.paint(course);
}
function facts(list, wanted) {
  const said = JSON.stringify(wanted);
  if (list.dataset.said === said) return;
  list.dataset.said = said;
  list.replaceChildren(...wanted.flatMap(([term, text, kind]) => [el("dt", {}, term),
    el("dd", { class: kind || null }, name(text))]));
}

// ---- Lists: bans, mutes, audit, roles, tokens, settings, results, recordings.

/** Fills a table: columns are [title, cell of a row, class]. */
function list(table, of, cols, none) {
  const count = $("h2 .soft", table.parentElement);
  if (count) say(count, of.length ? String(of.length) : "");
  if (!of.length) {
    table.replaceChildren(el("tbody", {}, el("tr", {}, el("td", { class: "none" }, none))));
    return;
  }
  table.replaceChildren(
    el("thead", {}, el("tr", {}, ...cols.map(([title]) => el("th", { scope: "col" }, title)))),
    el("tbody", {}, ...of.map((it) => el("tr", {}, ...cols.map(([title, cell, kind], at) => {
      const made = cell(it);
      const blank = made == null || made === "";
      return el(at ? "td" : "th", { scope: at ? null : "row", "data-label": at && title || null,
        class: [kind, blank && "blank"].filter(Boolean).join(" ") || null },
      blank ? null : typeof made === "string" ? name(made) : made);
    })))));
}
const lift = (text, run) => el("button", { type: "button", class: "small",
  onclick: () => tried(run()) }, text);
async function loadSanctions() {
  const may = can("moderator");
  await Promise.all(["bans", "mutes"].map(async (kind) => {
    const all = await ask("GET", `/v1/${kind}`);
    list($(`#${kind.slice(0, -1)}-list`), all, [
      [kind === "bans" ? "Banned" : "Muted", (it) => el("span", {}, it.name == null ? null
        : el("b", {}, name(it.name), " "), el("code", { class: "soft" }, it.subject))],
      ["Kind", (it) => it.kind, "tight"], ["Reason", (it) => it.reason],
      ["By", (it) => it.by], ["Since", (it) => date(it.made), "tight"],
      ["Ends", (it) => (it.until == null ? "never" : `in ${span(it.until - now() / 1000)}`),
        "tight"],
      ...(may ? [["", (it) => lift("Lift", async () => {
        const called = it.name ?? it.subject;
        if (!await sure(`Lift the ${kind.slice(0, -1)}?`, called, "Lift it")) return;
        await ask("DELETE", `/v1/${kind}/${encodeURIComponent(it.id)}`);
        note(`Lifted: ${called}`);
        await loadSanctions();
      }), "act"]] : []),
    ], kind === "bans" ? "No bans." : "No mutes.");
  }));
}
async function loadAllowed() {
  const it = await ask("GET", "/v1/allow-list");
  const none = it.file == null ? "There is no list, so anyone may join. Set allow_list to " +
    "a file." : "The list is empty, so no one may join.";
  show($("#allow"), it.file != null && can("admin"));
  list($("#allow-list"), it.players, [
    ["Player", (one) => el("span", {}, one.name ? el("b", {}, name(one.name), " ") : null,
      el("code", { class: "soft" }, one.key))],
    ...(can("admin") ? [["", (one) => lift("Remove", async () => {
      const called = one.name || one.key;
      if (!await sure("Remove from the list?", `${called} may no longer join, but is not ` +
        "kicked if in the game.", "Remove")) return;
      await ask("DELETE", `/v1/allow-list/${one.key}`);
      await loadAllowed();
    }), "act"]] : []),
  ], none);
}
onSubmit($("#allow"), async (it, form) => {
  note((await ask("POST", "/v1/allow-list", filled({ key: it.key.trim(), name: it.name }))).done);
  form.key.value = form.elements.name.value = "";
  await loadAllowed();
});
let entries = [];
async function loadAudit(older) {
  if (!can("moderator")) return;
  const before = older && entries.length ? `&before=${entries.at(-1).id}` : "";
  const got = await ask("GET", `/v1/audit?limit=100${before}`);
  entries = before ? [...entries, ...got] : got;
  list($("#audit-list"), entries, [
    ["Action", (it) => el("b", {}, it.act)], ["Target", (it) => it.whom],
    ["By", (it) => [it.by, it.role].filter(Boolean).join(", ")],
    ["Time", (it) => date(it.time), "tight"], ["Reason", (it) => it.why],
    ["Details", (it) => it.detail],
  ], "Nothing yet.");
  show($("#older"), got.length === 100);
}
$("#older button").addEventListener("click", () => tried(loadAudit(true)));
async function loadRoles() {
  list($("#role-list"), await ask("GET", "/v1/roles"), [
    ["Player", (it) => el("span", {}, it.name ? el("b", {}, name(it.name), " ") : null,
      el("code", { class: "soft" }, `${it.key.slice(0, 16)}…`))],
    ["Role", (it) => it.role], ["By", (it) => it.by], ["Since", (it) => date(it.made)],
    ...(can("admin") ? [["", (it) => lift("Remove", async () => {
      const whose = `${it.name || it.key}: ${it.role}`;
      if (!await sure("Remove this role?", whose, "Remove")) return;
      await ask("DELETE", `/v1/roles/${encodeURIComponent(it.key)}`);
      await loadRoles();
    }), "act"]] : []),
  ], "No player has a role.");
}
async function loadTokens() {
  if (!can("admin")) return;
  list($("#token-list"), await ask("GET", "/v1/tokens"), [
    ["Name", (it) => el("b", {}, name(it.name))], ["Role", (it) => it.role],
    ["Created", (it) => (it.made ? date(it.made) : "")],
    ["", (it) => lift("Revoke", async () => {
      const own = it.name === me.name ? " You are logged in with it." : "";
      if (!await sure("Revoke this token?", `${it.name}, ${it.role}.${own}`, "Revoke it")) return;
      await ask("DELETE", `/v1/tokens/${encodeURIComponent(it.name)}`);
      await loadTokens();
    }), "act"],
  ], "There are no tokens.");
}
let settings = [];
function drawSettings() {
  const wanted = $("#setting").value.trim().toLowerCase();
  list($("#config-list"), settings.filter((it) => !wanted ||
    `${it.setting} ${it.value} ${it.origin}`.toLowerCase().includes(wanted)), [
    ["Setting", (it) => el("code", {}, it.setting)],
    ["Value", (it) => (it.value == null ? "" : typeof it.value === "string" ? it.value
      : JSON.stringify(it.value))], ["From", (it) => it.origin],
  ], "No setting matches.");
}
$("#setting").addEventListener("input", drawSettings);
async function loadSettings() {
  settings = await ask("GET", "/v1/config");
  $("#set-names").replaceChildren(...settings.filter((it) => !it.setting.includes("."))
    .map((it) => el("option", { value: it.setting })));
  drawSettings();
}
async function loadResults() {
  list($("#result-list"), await ask("GET", "/v1/results?limit=50"), [
    ["Ended", (it) => date(it.time), "tight"],
    ["Game", (it) => `${it.game}${it.room ? `, room ${it.room}` : ""}`],
    ["First", (it) => it.players.slice(0, 3).map((p) => `\u2068${p.name}\u2069 ${p.value}`)
      .join(", ")],
  ], "No round has ended yet.");
}
async function loadRecords() {
  const game = $("#records-of").value;
  if (!game) return;
  list($("#record-list"), await ask("GET", `/v1/records?game=${encodeURIComponent(game)}`), [
    ["Record", (it) => it.measure], ["Value", (it) => String(it.value)],
    ["By", (it) => it.name], ["Since", (it) => date(it.time)],
  ], "No records in this game yet.");
}
$("#records-of").addEventListener("change", () => tried(loadRecords()));
async function saveReplay(file) {
  const headers = { Authorization: `Bearer ${token}` };
  const reply = await fetch(`/v1/replays/${encodeURIComponent(file)}`, { headers });
  if (!reply.ok) throw new Error(`The server answered with status ${reply.status}.`);
  const href = URL.createObjectURL(await reply.blob());
  el("a", { href, download: file }).click();
  setTimeout(() => URL.revokeObjectURL(href), 60e3);
}
/** The first few names, and how many others there are. */
function someOf(names) {
  const shown = names.slice(0, 5).map((name) => `\u2068${name}\u2069`);
  return names.length > 5 ? [...shown, `${names.length - 5} more`] : shown;
}
let replays = [];
async function loadReplays(older) {
  const skip = older ? replays.length : 0;
  const got = await ask("GET", `/v1/replays?limit=50&skip=${skip}`);
  replays = skip ? [...replays, ...got] : got;
  list($("#replay-list"), replays, [
    ["Ended", (it) => date(it.ended), "tight"],
    ["Game", (it) => [it.game ?? (it.unread ? "not read yet" : "unreadable"),
      ...someOf(it.players)].join(", ")],
    ["Length", (it) => (it.seconds == null ? "" : span(it.seconds)), "tight"],
    ["Size", (it) => bytes(it.bytes), "tight"],
    ...(can("moderator") ? [["", (it) => lift("Download", () => saveReplay(it.file)), "act"]] : []),
    ...(can("admin") ? [["", (it) => lift("Delete", async () => {
      if (!await sure("Delete the recording?", it.file, "Delete it")) return;
      note((await ask("DELETE", `/v1/replays/${encodeURIComponent(it.file)}`)).done);
      await loadReplays();
    }), "act"]] : []),
  ], "There are no recordings.");
  show($("#older-replays"), got.length === 50);
}
$("#older-replays button").addEventListener("click", () => tried(loadReplays(true)));
onSubmit($("#save-minutes"), async (it) => {
  note((await ask("POST", "/v1/replays", filled(it))).done);
});
onSubmit($("#mark"), async (it, form) => {
  note((await ask("POST", "/v1/mark", it)).done);
  form.text.value = "";
});
function drawAbout() {
  facts($("#about"), [["Name", status.name], ["Version", status.version],
    ["Games", status.games.join(", ")], ["Listens on", status.address.join(", ")],
    ["Fingerprint", status.fingerprint, "mono"], ["Started", date(status.started)],
    ["Rates", `${status.tick_hz} ticks, ${status.snapshot_hz} snapshots a second`],
    ["Players", `${status.players} of ${status.seats} seats, ${status.bots} bots`],
    ["Traffic so far", `${bytes(status.traffic.bytes_out)} out, ` +
      `${bytes(status.traffic.bytes_in)} in`],
    ["Database", status.database],
    ["Rooms", status.keeping === "ok" ? "saved for restarts" : status.keeping],
    ["Agones", status.agones ?? "off"],
    ["Next restart", status.next_restart == null ? "none scheduled"
      : date(status.next_restart)],
    ["Certificate", status.certificate_expires == null ? "no expiry date"
      : `valid until ${date(status.certificate_expires)}`],
    ["Failed logins", `${status.failed_logins.tokens} with a wrong token, ` +
      `${status.failed_logins.passwords} with a wrong password`],
    ["Log", `${status.log.written} lines written, ${status.log.dropped} dropped`],
    ["You", `${me.name}, ${me.role}`]]);
}

// ---- The log.

const shownLine = (line) => {
  const level = LEVELS.indexOf(line.level), grep = $("#grep").value.toLowerCase();
  return (level < 0 ? 2 : level) <= Number($("#least").value) &&
    (!grep || `${line.target} ${line.text}`.toLowerCase().includes(grep));
};
const lineOf = (line) => el("li", { class: LEVELS.includes(line.level) ? line.level : null },
  time(line.time), el("span", { class: "level" }, line.level),
  el("span", { class: "text" }, el("span", { class: "target" }, line.target), name(line.text)));
function addLine(line) {
  if (lines.length > LINES_MAX) lines.splice(0, lines.length - LINES_MAX);
  if (view() !== "log") return;
  countLines();
  if (!shownLine(line)) return;
  const place = $("#lines");
  place.append(lineOf(line));
  while (place.children.length > LINES_MAX) place.firstChild.remove();
  follow();
}
function countLines() { say($("#log-count"), `last ${lines.length} lines`); }
function follow() {
  const place = $("#lines");
  if ($("#follow").checked) place.scrollTop = place.scrollHeight;
}
function drawLog() {
  $("#lines").replaceChildren(...lines.filter(shownLine).map(lineOf));
  countLines();
  follow();
  if (status && !$("#level input").matches(":focus")) $("#level input").value = status.log.filter;
}
async function loadLog() {
  const got = await ask("GET", "/v1/log?lines=200");
  lines.splice(0, lines.length, ...got);
  if (view() === "log") drawLog();
}
for (const it of ["#least", "#grep"]) $(it).addEventListener("input", drawLog);
$("#follow").addEventListener("change", follow);
$("#lines").addEventListener("wheel", (event) => {
  if (event.deltaY < 0) $("#follow").checked = false;
}, { passive: true });
$("#lines").addEventListener("touchmove", () => { $("#follow").checked = atEnd($("#lines")); },
  { passive: true });

// ---- Forms.

$("#talk").append($("#talk-template").content.cloneNode(true));
onSubmit($("#say"), async (body, form) => {
  await ask("POST", "/v1/say", filled(body));
  $("[name=text]", form).value = "";
});
const banForm = $("#ban");
banForm.addEventListener("change", () => {
  const kind = banForm.kind.value;
  banForm.subject.placeholder = { key: "", address: "192.0.2.7", network: "192.0.2.0/24" }[kind];
  const mute = banForm.act.value === "mutes";
  say($("#subject-label"), mute ? "Player's name or key" : { key: "Key, 64 hex digits",
    address: "Address", network: "Network" }[kind]);
  banForm.kind.value = mute ? "key" : kind;
  banForm.kind.disabled = mute;
  say($("button", banForm), mute ? "Mute" : "Ban");
});
onSubmit(banForm, async (it) => {
  const by = it.act === "mutes" ? "who" : it.kind;
  await ask("POST", `/v1/${it.act}`, filled({ [by]: it.subject.trim(), for: it.for,
    reason: it.reason }));
  note(`${it.act === "mutes" ? "Muted" : "Banned"}: ${it.subject}`);
  banForm.subject.value = banForm.reason.value = "";
  await loadSanctions();
});
onSubmit($("#level"), async (body) => {
  await ask("PUT", "/v1/log-level", body);
  note(`The log's filter is now ${body.filter}`);
});
const where = (it) => (it.room ? `Room ${it.room}` : "All rooms");
onSubmit($("#game"), async (it) => {
  if (!await sure(`Switch to ${it.game} now?`, `${where(it)}: the game in progress ends at once.`,
    "Switch")) return;
  await ask("POST", "/v1/game", filled(it));
  note(`The game is now ${it.game}`);
});
onSubmit($("#round"), async (it) => {
  if (!await sure("Restart the game?", `${where(it)}: the scores of this round are lost.`,
    "Restart")) return;
  await ask("POST", "/v1/round", filled(it));
  note("The game starts again");
});
onSubmit($("#drain"), async (it) => {
  if (!await sure("Drain and stop the server?", "No one can join any more. The server stops " +
    "after the round, or when the time is up.", "Drain and stop")) return;
  note((await ask("POST", "/v1/drain", filled(it))).done);
});
$("#undrain").addEventListener("click", () => tried((async () => {
  await ask("DELETE", "/v1/drain");
  note("The drain was cancelled");
})()));
$("#skip").addEventListener("click", () => tried((async () => {
  note((await ask("DELETE", "/v1/restart")).done);
})()));
onSubmit($("#reload"), async (_, form) => {
  const place = $(".stack", form);
  place.replaceChildren();
  const it = await ask("POST", "/v1/reload", {});
  const row = (head) => (of) => el("p", {}, el("b", {}, head), el("code", {}, of.setting), ": ",
    name(String(of.from)), " → ", name(String(of.to)), of.why ? ` (${of.why})` : "");
  place.append(...it.changed.map(row("Changed ")),
    ...it.needs_restart.map(row("Needs a restart ")));
  if (!place.children.length) place.append("Nothing has changed.");
  await loadSettings();
});
onSubmit($("#set"), async (it, form) => {
  const path = `/v1/settings/${encodeURIComponent(it.setting.trim())}`;
  const unset = form.dataset.act === "unset";
  const got = unset ? await ask("DELETE", path) : await ask("PUT", path, { value: it.value });
  note(got.done);
  await loadSettings();
});
for (const it of $("#set").elements) {
  if (it.name === "act") it.addEventListener("click", () => { $("#set").dataset.act = it.value; });
}
onSubmit($("#backup"), async (it) => {
  const got = await ask("POST", "/v1/backup", it);
  note(`${got.done}${got.bytes == null ? "" : `, ${bytes(got.bytes)}`}`);
});
onSubmit($("#role"), async (it, form) => {
  const key = /^[0-9a-f]{64}$/i.test(it.who.trim());
  await ask("POST", "/v1/roles", { [key ? "key" : "who"]: it.who.trim(), role: it.role });
  form.who.value = "";
  await loadRoles();
});
onSubmit($("#new-token"), async (it, form) => {
  const got = await ask("POST", "/v1/tokens", it);
  form.elements.name.value = "";
  $("#secret input").value = got.token;
  $("#secret").showModal();
  $("#secret input").select();
  await loadTokens();
});
$("#copy").addEventListener("click", async () => {
  $("#secret input").select();
  try { await navigator.clipboard.writeText($("#secret input").value); note("Copied"); }
  catch { note("Copy the selected text by hand."); }
});
$("#secret").addEventListener("close", () => { $("#secret input").value = ""; });

// ---- Views, and logging in and out.

const wide = matchMedia("(min-width: 1200px)");
function view() {
  const asked = location.hash.slice(1);
  const there = $$("[data-view]").some((it) => it.dataset.view === asked);
  if (!there || (asked === "audit" && !can("moderator"))) return "overview";
  return asked === "chat" && wide.matches ? "overview" : asked;
}
function open(which) {
  const load = { bans: [loadSanctions, loadAllowed], audit: [loadAudit], log: [drawLog],
    server: [loadRoles, loadTokens, loadSettings, loadResults, loadRecords, loadReplays],
  }[which] || [];
  for (const run of load) tried(Promise.resolve(run()));
}
function turn() {
  if (!me) return;
  const which = view();
  for (const it of $$("[data-view]")) show(it, it.dataset.view === which);
  for (const it of $$("#ways a")) {
    if (it.hash === `#${which}`) it.ariaCurrent = "page"; else it.removeAttribute("aria-current");
  }
  const talk = $("#talk"), place = which === "chat" ? $("#chat") : $("#below");
  if (talk.parentElement !== place) place.append(talk);
  show(talk, which === "chat" || wide.matches);
  open(which);
  if (status) draw();
  for (const it of $$(".feed")) it.scrollTop = it.scrollHeight;
}
addEventListener("hashchange", () => { turn(); scrollTo(0, 0); });
wide.addEventListener("change", turn);
addEventListener("resize", () => { if (status) draw(); });
setInterval(pulse, 1000);

function logOut(why = "") {
  token = me = status = null;
  players = [];
  clearTimeout(retryTimer);
  retryAt = retry = 0;
  const old = stream;
  stream = null;
  if (old) old.abort();
  try { sessionStorage.removeItem(KEPT); } catch { /* Storage is not allowed. */ }
  for (const it of $$("dialog[open]")) it.close();
  // Removes everything that the token gave access to.
  for (const it of [courses, rows, cards, trouble.tickAt]) it.clear();
  for (const key of keysOf(whole)) whole[key].length = 0;
  whole.before = null;
  lines.length = entries.length = settings.length = 0;
  trouble.droppedAt = trouble.failedAt = -Infinity;
  for (const it of $$("#players tbody, #rooms, #chat-feed, #event-feed, #lines, #banners, " +
    "table.lists, #about, #facts")) { it.replaceChildren(); delete it.dataset.said; }
  document.title = "Phaselock";
  show($("#app"), false);
  show($("#login"), true);
  say($("#login-fault"), why);
  $("#token").value = "";
  $("#token").focus();
}
async function logIn(with_) {
  token = with_;
  me = await ask("GET", "/v1/me");
  try { sessionStorage.setItem(KEPT, token); } catch { /* Storage is not allowed. */ }
  for (const it of $$("[data-need]")) show(it, can(it.dataset.need));
  $("#players").classList.toggle("may-not", !can("moderator"));
  $("#forget").title = `Log out ${me.name} (${me.role}) and forget the token`;
  show($("#login"), false);
  show($("#app"), true);
  readColours();
  sortBy("seat", false);
  turn();
  listen();
  tried(loadLog());
  tried(loadChat());
}
onSubmit($("#login form"), async () => {
  const typed = $("#token").value.trim();
  if (!/^[\x21-\x7e]+$/.test(typed)) throw new Error("A token is one word without spaces.");
  await logIn(typed);
});
$("#forget").addEventListener("click", () => logOut());

let kept = null;
try { kept = sessionStorage.getItem(KEPT); } catch { /* Storage is not allowed. */ }
if (kept) logIn(kept).catch((error) => logOut(error.message)); else logOut();
