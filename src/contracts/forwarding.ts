/**
 * Finds out to which contract the code of a proxy forwards its calls. Runs the code with symbols on the stack, along all
 * branches, until a DELEGATECALL passes on the whole call data. So it recognizes clones and proxies in any encoding,
 * and needs no list of known ones. Pure and bounded.
 */
import type { Hex } from '../domain/hex';

/** Where the code finds an address. */
export type Place =
  /** The code contains the address, as in a clone. */
  | { readonly from: 'code'; readonly address: Hex }
  /** A storage slot contains the address, `shift` bits above the lowest bit. */
  | { readonly from: 'slot'; readonly slot: Hex; readonly shift: number };

/** A beacon is a contract that tells the address of the implementation. */
export interface Forwarding {
  readonly kind: 'implementation' | 'beacon';
  readonly place: Place;
}

/** A value on the stack. `unknown` has no known origin; `size` is the size of the call data plus another size. */
type Value =
  | bigint
  | 'unknown'
  | 'size'
  | { readonly slot: bigint; readonly shift: number }
  /** The answer of the contract at this place. */
  | { readonly answerOf: Place };

interface Path {
  position: number;
  readonly stack: Value[];
  /** The contract of the newest CALL or STATICCALL, whose answer is in memory. */
  calledPlace: Place | null;
}

const STEPS_MAX = 20_000;
const PATHS_MAX = 2_000;
const STACK_MAX = 64;
const WORD_VALUES = 2n ** 256n;
const ADDRESS_MAX = 2n ** 160n - 1n;
/** Constants below are numbers, not addresses of contracts. An address with so many leading zeros is not minable. */
const ADDRESS_MIN = 2n ** 64n;
const EIP_7702 = /^0xef0100([0-9a-f]{40})$/;

/** The target of an account with delegated code (EIP-7702); null for other code. */
export function readDelegation(code: Hex): Hex | null {
  const target = EIP_7702.exec(code)?.[1];
  return target === undefined ? null : `0x${target}`;
}

/** Null if the code does not forward calls, or if the place of the implementation is unknown. */
export function readForwarding(code: Hex): Forwarding | null {
  const bytes = Buffer.from(code.slice(2), 'hex');
  const paths: Path[] = [{ position: 0, stack: [], calledPlace: null }];
  const startedStates = new Set<string>();
  let steps = 0;
  for (let path = paths.pop(); path !== undefined; path = paths.pop()) {
    const state = `${path.position} ${path.stack.map(valueKey).join()}`;
    if (startedStates.has(state) || startedStates.size >= PATHS_MAX) continue;
    startedStates.add(state);
    for (;;) {
      if ((steps += 1) > STEPS_MAX) return null;
      const outcome = runOperation(bytes, path);
      if (outcome === 'go on') continue;
      if (outcome === 'end') break;
      if (!Array.isArray(outcome)) return outcome;
      paths.push(...outcome);
      break;
    }
  }
  return null;
}

type Next = 'go on' | 'end' | Path[] | Forwarding;

/** Runs one operation. Returns the branches of a JUMPI, with the one to take first at the end. */
function runOperation(bytes: Buffer, path: Path): Next {
  const { stack } = path;
  const opcode = bytes[path.position];
  if (opcode === undefined || stack.length > STACK_MAX) return 'end';
  path.position += 1;
  if (opcode >= OP.PUSH0 && opcode <= OP.SWAP16) return runStackOperation(bytes, path, opcode);
  const pop = (): Value => stack.pop() ?? 'unknown';
  switch (opcode) {
    case OP.JUMP:
    case OP.JUMPI:
      return jump(bytes, path, opcode === OP.JUMPI, pop(), opcode === OP.JUMPI ? pop() : 1n);
    case OP.DELEGATECALL:
      return readDelegateCall(path, [pop(), pop(), pop(), pop(), pop(), pop()]);
    case OP.CALL:
    case OP.STATICCALL: {
      // The arguments are gas, target, value (only of CALL), and position and size of the input and of the output.
      const [, target = 'unknown'] = Array.from({ length: opcode === OP.CALL ? 7 : 6 }, pop);
      path.calledPlace = placeOf(target);
      stack.push('unknown');
      return 'go on';
    }
    case OP.CALLDATASIZE:
      stack.push('size');
      return 'go on';
    case OP.SLOAD: {
      const slot = pop();
      stack.push(typeof slot === 'bigint' ? { slot, shift: 0 } : 'unknown');
      return 'go on';
    }
    case OP.MLOAD:
      pop();
      stack.push(path.calledPlace === null ? 'unknown' : { answerOf: path.calledPlace });
      return 'go on';
    default:
      return compute(opcode, stack, pop);
  }
}

/** Runs PUSH, DUP or SWAP. */
function runStackOperation(bytes: Buffer, path: Path, opcode: number): Next {
  const { stack } = path;
  if (opcode <= OP.PUSH32) {
    const byteCount = opcode - OP.PUSH0;
    const hexText = bytes.toString('hex', path.position, path.position + byteCount);
    stack.push(byteCount === 0 ? 0n : BigInt(`0x${hexText.padEnd(2 * byteCount, '0')}`));
    path.position += byteCount;
    return 'go on';
  }
  if (opcode <= OP.DUP16) {
    stack.push(stack.at(OP.DUP1 - opcode - 1) ?? 'unknown');
    return 'go on';
  }
  const [topIndex, otherIndex] = [stack.length - 1, stack.length - 2 - (opcode - OP.SWAP1)];
  if (otherIndex < 0) return 'end';
  [stack[topIndex], stack[otherIndex]] = [stack[otherIndex] ?? 'unknown', stack[topIndex] ?? 'unknown'];
  return 'go on';
}

function jump(bytes: Buffer, path: Path, isConditional: boolean, to: Value, condition: Value): Next {
  const target = typeof to === 'bigint' && to < BigInt(bytes.length) ? Number(to) : -1;
  const isJumpTarget = bytes[target] === OP.JUMPDEST;
  if (!isConditional || (typeof condition === 'bigint' && condition !== 0n)) {
    if (!isJumpTarget) return 'end';
    path.position = target;
    // A jump starts a path, so that a loop ends where its state repeats.
    return [path];
  }
  const nextPath = { ...path, stack: [...path.stack] };
  if (typeof condition === 'bigint' || !isJumpTarget) return [nextPath];
  return [{ ...path, position: target }, nextPath];
}

/** The forwarded call, or the unknown result of another call. */
function readDelegateCall(path: Path, [, to, , size]: readonly Value[]): Next {
  const place = to === undefined ? null : placeOf(to);
  if (size === 'size' && to !== undefined) {
    if (place !== null) return { kind: 'implementation', place };
    if (typeof to === 'object' && 'answerOf' in to) return { kind: 'beacon', place: to.answerOf };
  }
  path.calledPlace = null;
  path.stack.push('unknown');
  return 'go on';
}

function placeOf(value: Value): Place | null {
  if (typeof value === 'bigint')
    return value >= ADDRESS_MIN && value <= ADDRESS_MAX
      ? { from: 'code', address: `0x${value.toString(16).padStart(40, '0')}` }
      : null;
  return typeof value === 'object' && 'slot' in value
    ? { from: 'slot', slot: `0x${value.slot.toString(16).padStart(64, '0')}`, shift: value.shift }
    : null;
}

/** All operations that only change the stack. */
function compute(opcode: number, stack: Value[], take: () => Value): Next {
  const takesAndGives = TAKES_AND_GIVES.get(opcode);
  if (takesAndGives === undefined) return 'end';
  const [count, results] = takesAndGives;
  const [top = 'unknown', second = 'unknown'] = Array.from({ length: count }, take);
  if (results === 1) stack.push(resultOf(opcode, top, second));
  return 'go on';
}

function resultOf(opcode: number, a: Value, b: Value): Value {
  if (typeof a === 'bigint' && typeof b === 'bigint') return OPERATIONS.get(opcode)?.(a, b) ?? 'unknown';
  // Arguments after the call data, or the size as a difference of pointers, still pass on the whole call data.
  if (a === 'size' || b === 'size')
    return opcode === OP.ADD || (opcode === OP.SUB && a === 'size') ? 'size' : 'unknown';
  const [constant, other] = typeof a === 'bigint' ? [a, b] : [b, a];
  if (typeof constant !== 'bigint' || typeof other !== 'object') return 'unknown';
  if (opcode === OP.AND) return constant === ADDRESS_MAX || constant === WORD_VALUES - 1n ? other : 'unknown';
  return 'slot' in other ? shiftSlot(opcode, a, constant, other) : 'unknown';
}

/** A slot after SHR or a division by a power of two; `a` is the top of the stack. */
function shiftSlot(
  opcode: number,
  a: Value,
  constant: bigint,
  value: { readonly slot: bigint; readonly shift: number },
): Value {
  const isShifted = opcode === OP.SHR && a === constant;
  const shiftBits = isShifted
    ? Number(constant)
    : opcode === OP.DIV && a !== constant
      ? powerOfTwoBits(constant)
      : 256;
  const shift = value.shift + shiftBits;
  return shift > 96 ? 'unknown' : { ...value, shift };
}

/** The exponent of a power of two; 256 for other numbers. */
function powerOfTwoBits(value: bigint): number {
  const bits = value.toString(2);
  return /^10*$/.test(bits) ? bits.length - 1 : 256;
}

function valueKey(value: Value): string {
  if (typeof value !== 'object') return String(value);
  return 'slot' in value ? `slot ${value.slot} ${value.shift}` : JSON.stringify(value);
}

const OP = {
  ADD: 0x01,
  SUB: 0x03,
  DIV: 0x04,
  AND: 0x16,
  SHR: 0x1c,
  CALLDATASIZE: 0x36,
  MLOAD: 0x51,
  SLOAD: 0x54,
  JUMP: 0x56,
  JUMPI: 0x57,
  JUMPDEST: 0x5b,
  PUSH0: 0x5f,
  PUSH32: 0x7f,
  DUP1: 0x80,
  DUP16: 0x8f,
  SWAP1: 0x90,
  SWAP16: 0x9f,
  CALL: 0xf1,
  DELEGATECALL: 0xf4,
  STATICCALL: 0xfa,
} as const;

/** Operations that other code of a proxy uses: number of taken values, number of results. */
const TAKES_AND_GIVES: ReadonlyMap<number, readonly [takes: number, gives: 0 | 1]> = new Map(
  (
    [
      // Arithmetic and comparisons of two values; ADDMOD and MULMOD of three.
      [0x01, 0x07, 2, 1],
      [0x08, 0x09, 3, 1],
      [0x0a, 0x0b, 2, 1],
      [0x10, 0x14, 2, 1],
      [0x15, 0x15, 1, 1],
      [0x16, 0x18, 2, 1],
      [0x19, 0x19, 1, 1],
      [0x1a, 0x1d, 2, 1],
      [0x1e, 0x1e, 1, 1],
      [0x20, 0x20, 2, 1],
      // Values of the transaction and the block.
      [0x30, 0x30, 0, 1],
      [0x31, 0x31, 1, 1],
      [0x32, 0x34, 0, 1],
      [0x35, 0x35, 1, 1],
      [0x37, 0x37, 3, 0],
      [0x38, 0x38, 0, 1],
      [0x39, 0x39, 3, 0],
      [0x3a, 0x3a, 0, 1],
      [0x3b, 0x3b, 1, 1],
      [0x3c, 0x3c, 4, 0],
      [0x3d, 0x3d, 0, 1],
      [0x3e, 0x3e, 3, 0],
      [0x3f, 0x40, 1, 1],
      [0x41, 0x48, 0, 1],
      [0x49, 0x49, 1, 1],
      [0x4a, 0x4a, 0, 1],
      // Memory, storage and logs.
      [0x50, 0x50, 1, 0],
      [0x52, 0x53, 2, 0],
      [0x55, 0x55, 2, 0],
      [0x58, 0x5a, 0, 1],
      [0x5b, 0x5b, 0, 0],
      [0x5c, 0x5c, 1, 1],
      [0x5d, 0x5d, 2, 0],
      [0x5e, 0x5e, 3, 0],
      [0xa0, 0xa0, 2, 0],
      [0xa1, 0xa1, 3, 0],
      [0xa2, 0xa2, 4, 0],
      [0xa3, 0xa3, 5, 0],
      [0xa4, 0xa4, 6, 0],
    ] as const
  ).flatMap(([from, to, takes, gives]) =>
    Array.from({ length: to - from + 1 }, (_, index) => [from + index, [takes, gives]] as const),
  ),
);

const fromBoolean = (value: boolean): bigint => (value ? 1n : 0n);
/** Operations on two constants; the first is the top of the stack. */
const OPERATIONS: ReadonlyMap<number, (a: bigint, b: bigint) => bigint> = new Map([
  [0x01, (a, b) => (a + b) % WORD_VALUES],
  [0x02, (a, b) => (a * b) % WORD_VALUES],
  [0x03, (a, b) => (a - b + WORD_VALUES) % WORD_VALUES],
  [0x04, (a, b) => (b === 0n ? 0n : a / b)],
  [0x0a, (a, b) => (b > 255n ? 0n : a ** b % WORD_VALUES)],
  [0x14, (a, b) => fromBoolean(a === b)],
  [0x16, (a, b) => a & b],
  [0x17, (a, b) => a | b],
  [0x1b, (a, b) => (a > 255n ? 0n : (b << a) % WORD_VALUES)],
  [0x1c, (a, b) => (a > 255n ? 0n : b >> a)],
]);

const [CALLCODE, SELFDESTRUCT] = [0xf2, 0xff];

/**
 * Whether the code contains DELEGATECALL (`delegates`), and whether it contains an operation that can run other code as
 * this contract or destroy it (`canEnd`). Pushed data and metadata do not count.
 */
export function readAbilities(code: Hex): { readonly delegates: boolean; readonly canEnd: boolean } {
  const bytes = Buffer.from(code.slice(2), 'hex');
  // The last two bytes are the length of the compiler's metadata, a CBOR map.
  const metadataLength = bytes.length < 2 ? 0 : bytes.readUInt16BE(bytes.length - 2) + 2;
  const firstMetadataByte = bytes[bytes.length - metadataLength] ?? 0;
  const codeEnd =
    firstMetadataByte >> 4 === 0xa && metadataLength < bytes.length
      ? bytes.length - metadataLength
      : bytes.length;
  let [delegates, canEnd] = [false, false];
  for (let index = 0; index < codeEnd; index += 1) {
    const opcode = bytes[index] ?? 0;
    delegates ||= opcode === OP.DELEGATECALL;
    canEnd ||= opcode === OP.DELEGATECALL || opcode === CALLCODE || opcode === SELFDESTRUCT;
    if (opcode > OP.PUSH0 && opcode <= OP.PUSH32) index += opcode - OP.PUSH0;
  }
  return { delegates, canEnd };
}
