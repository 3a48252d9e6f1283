/**
 * The keys of JSON objects in their order. Objects with the same keys are made by one compiled literal, which V8 makes
 * several times faster, and smaller, than an object that grows key by key.
 */
import { compileFunction } from '../../domain/compileFunction';

/** Number of objects of a shape that are made key by key. */
const RARE_OBJECTS = 16;
/** Limits of the keys of an object with a shape, and of all shapes. Nodes send some ten shapes. */
const KEYS_MAX = 64;
const SHAPES_MAX = 1_024;

type Make = (values: readonly unknown[], from: number) => Record<string, unknown>;

let shapeCount = 0;

export class ObjectShape {
  /** The shape with one more key that followed this one last. */
  recent: ObjectShape | null = null;
  private readonly nextByKey = new Map<string, ObjectShape>();
  private objectCount = 0;
  private compiled: Make | null = null;

  private constructor(readonly keys: readonly string[]) {}

  static empty(): ObjectShape {
    return new ObjectShape([]);
  }

  get lastKey(): string {
    return this.keys.at(-1) ?? '';
  }

  /** The shape with one more key; null if the object must be made key by key. */
  with(key: string): ObjectShape | null {
    if (this.recent?.lastKey === key) return this.recent;
    let shape = this.nextByKey.get(key) ?? null;
    if (shape === null) {
      // In a literal, this name would set the prototype.
      if (key === '__proto__' || this.keys.length >= KEYS_MAX || shapeCount >= SHAPES_MAX) return null;
      shapeCount += 1;
      shape = new ObjectShape([...this.keys, key]);
      this.nextByKey.set(key, shape);
    }
    this.recent = shape;
    return shape;
  }

  /** Makes an object with the values from position `from` on. */
  make(values: readonly unknown[], from: number): Record<string, unknown> {
    if (this.compiled !== null) return this.compiled(values, from);
    this.objectCount += 1;
    if (this.objectCount > RARE_OBJECTS) this.compiled = compile(this.keys);
    return Object.fromEntries(this.keys.map((key, index) => [key, values[from + index]]));
  }
}

function compile(keys: readonly string[]): Make {
  const members = keys.map((key, index) => `${JSON.stringify(key)}: values[from + ${index}]`);
  return compileFunction<Make>(['values', 'from'], `return { ${members.join(', ')} };`);
}
