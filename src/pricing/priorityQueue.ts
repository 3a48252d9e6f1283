/**
 * A binary heap. The largest priority comes first; ties go to the smallest address. The same value may be in the heap
 * more than once.
 */
export class PriorityQueue<T extends { readonly address: string }> {
  private readonly items: Item<T>[] = [];

  push(priority: number, value: T): void {
    const { items } = this;
    const item = { priority, value };
    let at = items.push(item) - 1;
    while (at > 0) {
      const parentAt = (at - 1) >> 1;
      const parent = items[parentAt];
      if (parent === undefined || !before(item, parent)) break;
      items[at] = parent;
      at = parentAt;
    }
    items[at] = item;
  }

  pop(): Item<T> | undefined {
    const { items } = this;
    const top = items[0];
    const last = items.pop();
    if (top === undefined || last === undefined) return undefined;
    if (items.length > 0) this.sink(last);
    return top;
  }

  private sink(item: Item<T>): void {
    const { items } = this;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      let next = items[child];
      if (next === undefined) break;
      const rightChild = items[child + 1];
      if (rightChild !== undefined && before(rightChild, next)) {
        next = rightChild;
        child += 1;
      }
      if (!before(next, item)) break;
      items[at] = next;
      at = child;
    }
    items[at] = item;
  }
}

interface Item<T> {
  readonly priority: number;
  readonly value: T;
}

function before(a: Item<{ readonly address: string }>, b: Item<{ readonly address: string }>): boolean {
  return a.priority === b.priority ? a.value.address < b.value.address : a.priority > b.priority;
}
