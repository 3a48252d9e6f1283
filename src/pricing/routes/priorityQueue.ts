/**
 * A binary heap. The largest priority comes first; ties go to the smallest address. The same value may be in the heap
 * more than once.
 */
export class PriorityQueue<T extends Ranked> {
  private readonly items: Item<T>[] = [];

  push(priority: number, value: T): void {
    const { items } = this;
    const item = { priority, rank: value.rank, value };
    let index = items.push(item) - 1;
    while (index > 0) {
      const parentIndex = (index - 1) >> 1;
      const parent = items[parentIndex];
      if (parent === undefined || !comesBefore(item, parent)) break;
      items[index] = parent;
      index = parentIndex;
    }
    items[index] = item;
  }

  pop(): Item<T> | undefined {
    const { items } = this;
    const top = items[0];
    const lastItem = items.pop();
    if (top === undefined || lastItem === undefined) return undefined;
    if (items.length > 0) this.sink(lastItem);
    return top;
  }

  private sink(item: Item<T>): void {
    const { items } = this;
    let index = 0;
    for (;;) {
      let childIndex = 2 * index + 1;
      let child = items[childIndex];
      if (child === undefined) break;
      const rightChild = items[childIndex + 1];
      if (rightChild !== undefined && comesBefore(rightChild, child)) {
        child = rightChild;
        childIndex += 1;
      }
      if (!comesBefore(child, item)) break;
      items[index] = child;
      index = childIndex;
    }
    items[index] = item;
  }
}

interface Ranked {
  readonly address: string;
  /** Orders values like their addresses, except for values with the same rank. */
  readonly rank: number;
}

interface Item<T> {
  readonly priority: number;
  readonly rank: number;
  readonly value: T;
}

function comesBefore(a: Item<Ranked>, b: Item<Ranked>): boolean {
  if (a.priority !== b.priority) return a.priority > b.priority;
  return a.rank === b.rank ? a.value.address < b.value.address : a.rank < b.rank;
}
