// Wakes a page that nobody sees, as often as a snapshot comes, and tells how late it was itself.
const EVERY_MS = 33;
let due = performance.now() + EVERY_MS;
setInterval(() => {
  const now = performance.now();
  postMessage({ sent: performance.timeOrigin + now, late: now - due });
  due = now + EVERY_MS;
}, EVERY_MS);
