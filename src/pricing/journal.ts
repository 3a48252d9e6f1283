/** Undo log of the newest blocks. Undoes changes block by block, the last change first. */
export class Journal {
  private readonly blocks: { readonly number: number; readonly undos: (() => void)[] }[] = [];

  /** Opens a block: the changes added from now on belong to it. */
  open(number: number): void {
    this.blocks.push({ number, undos: [] });
  }

  /** Adds an undo function for a change. Without an open block the change is final, and the journal records no undo step. */
  note(undo: () => void): void {
    this.blocks[this.blocks.length - 1]?.undos.push(undo);
  }

  /** Undoes every block above `number`. */
  rewindTo(number: number): void {
    for (let newestBlock = this.blocks.pop(); newestBlock !== undefined; newestBlock = this.blocks.pop()) {
      if (newestBlock.number <= number) {
        this.blocks.push(newestBlock);
        return;
      }
      for (let undo = newestBlock.undos.pop(); undo !== undefined; undo = newestBlock.undos.pop()) undo();
    }
  }

  /** Drops the undo functions of blocks up to `number`. */
  finalise(number: number): void {
    const firstKept = this.blocks.findIndex((block) => block.number > number);
    this.blocks.splice(0, firstKept < 0 ? this.blocks.length : firstKept);
  }

  finaliseAll(): void {
    this.blocks.length = 0;
  }
}
