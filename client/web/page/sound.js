// Plays samples in the order in which they come; silence where there are none.
class Phaselock extends AudioWorkletProcessor {
  constructor() {
    super();
    this.chunks = [];
    this.at = 0;
    this.heard = 0;
    this.port.onmessage = ({ data }) => this.chunks.push(data);
  }

  process(_inputs, [[left, right]]) {
    for (let frame = 0; frame < left.length; frame += 1) {
      const chunk = this.chunks[0];
      if (!chunk) break;
      left[frame] = chunk[this.at];
      right[frame] = chunk[this.at + 1];
      this.at += 2;
      this.heard += 1;
      if (this.at >= chunk.length) {
        this.chunks.shift();
        this.at = 0;
      }
    }
    this.port.postMessage(this.heard);
    return true;
  }
}

registerProcessor("phaselock", Phaselock);
