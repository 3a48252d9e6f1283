/** What the newest blocks changed, as how to take it back: block by block, the last change first. */
export class Journal {
  private readonly blocks: { readonly number: number; readonly undos: (() => void)[] }[] = [];

  /** Changes from now on are of this block. */
  open(number: number): void {
    this.blocks.push({ number, undos: [] });
  }

  /** Notes how to take back a change that is made now; nothing where no block is open, since it is final. */
  note(undo: () => void): void {
    this.blocks[this.blocks.length - 1]?.undos.push(undo);
  }

  /** Takes back every block above `number`. */
  rewindTo(number: number): void {
    for (let last = this.blocks.pop(); last !== undefined; last = this.blocks.pop()) {
      if (last.number <= number) {
        this.blocks.push(last);
        return;
      }
      for (let undo = last.undos.pop(); undo !== undefined; undo = last.undos.pop()) undo();
    }
  }

  /** Forgets how to take back blocks up to `number`. */
  settle(number: number): void {
    const kept = this.blocks.findIndex((block) => block.number > number);
    this.blocks.splice(0, kept < 0 ? this.blocks.length : kept);
  }
}
