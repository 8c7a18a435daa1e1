// Wakes a page that nobody sees, as often as a snapshot comes.
setInterval(() => postMessage(0), 33);
