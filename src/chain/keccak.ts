/**
 * Keccak-256 of one short hex string, for the bloom check, where JavaScript implementations (10–14 µs, no 64-bit
 * integers) would cost more than the parsing of the logs. The permutation is assembled into a WebAssembly module of
 * a few kilobytes at first use, by the loops of the specification: https://keccak.team/keccak_specs_summary.html
 */
import type { Hex } from '../domain/hex';

/** The part of the WebAssembly interface that is used; the language library without the DOM does not declare it. */
declare namespace WebAssembly {
  class Module {
    constructor(bytes: Uint8Array);
  }
  class Instance {
    constructor(module: Module);
    readonly exports: Readonly<Record<string, unknown>>;
  }
  class Memory {
    readonly buffer: ArrayBuffer;
  }
}

/** One block of the sponge: longer inputs are not taken. */
const RATE_BYTES = 136;
const STATE_BYTES = 200;
export const KECCAK_INPUT_BYTES_MAX = RATE_BYTES - 1;

const I64 = 0x7e;
const OP = { get: 0x20, set: 0x21, load: 0x29, store: 0x37, const: 0x42, xor: 0x85, and: 0x83, rotl: 0x89 };

/** Rotation of lane x + 5y. */
const ROTATION = [
  0, 1, 62, 28, 27, 36, 44, 6, 55, 20, 3, 10, 43, 25, 39, 41, 45, 15, 21, 8, 18, 2, 61, 56, 14,
];

/** Locals: 25 lanes, 25 lanes after rho and pi, 5 column parities, 5 column differences. */
const A = 0;
const B = 25;
const C = 50;
const D = 55;
const LOCAL_COUNT = 60;

function unsigned(value: number): number[] {
  const bytes: number[] = [];
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return [...bytes, rest];
    bytes.push((rest % 128) | 0x80);
  }
}

function signed64(value: bigint): number[] {
  const bytes: number[] = [];
  for (let rest = BigInt.asIntN(64, value); ; rest >>= 7n) {
    const low = Number(rest & 0x7fn);
    if ((rest >= -64n && rest < 64n) === true) return [...bytes, low];
    bytes.push(low | 0x80);
  }
}

/** The 24 constants of iota, from the degree-8 LFSR of the specification. */
function roundConstants(): bigint[] {
  let register = 1;
  return Array.from({ length: 24 }, () => {
    let constant = 0n;
    for (let bit = 0; bit < 7; bit += 1) {
      if ((register & 1) === 1) constant |= 1n << BigInt(2 ** bit - 1);
      register = (register << 1) ^ ((register >> 7) * 0x171);
    }
    return constant;
  });
}

const get = (local: number): number[] => [OP.get, local];
const set = (local: number): number[] => [OP.set, local];

/** One round over the locals: theta, rho and pi, chi, iota. */
function assembleRound(constant: bigint): number[] {
  const code: number[] = [];
  for (let x = 0; x < 5; x += 1) {
    code.push(...get(A + x));
    for (let y = 1; y < 5; y += 1) code.push(...get(A + x + 5 * y), OP.xor);
    code.push(...set(C + x));
  }
  for (let x = 0; x < 5; x += 1) {
    code.push(
      ...get(C + ((x + 4) % 5)),
      ...get(C + ((x + 1) % 5)),
      OP.const,
      1,
      OP.rotl,
      OP.xor,
      ...set(D + x),
    );
  }
  for (let lane = 0; lane < 25; lane += 1) {
    const x = lane % 5;
    const y = (lane - x) / 5;
    const target = y + 5 * ((2 * x + 3 * y) % 5);
    const turn = [OP.const, ...signed64(BigInt(ROTATION[lane] ?? 0)), OP.rotl];
    code.push(...get(A + lane), ...get(D + x), OP.xor, ...turn, ...set(B + target));
  }
  for (let lane = 0; lane < 25; lane += 1) {
    const row = lane - (lane % 5);
    const next = B + row + ((lane + 1) % 5);
    const afterNext = B + row + ((lane + 2) % 5);
    code.push(
      ...get(B + lane),
      ...get(next),
      OP.const,
      0x7f,
      OP.xor,
      ...get(afterNext),
      OP.and,
      OP.xor,
      ...set(A + lane),
    );
  }
  code.push(...get(A), OP.const, ...signed64(constant), OP.xor, ...set(A));
  return code;
}

/** The module: `memory` of one page, and `permute`, which applies Keccak-f[1600] to its first 200 bytes. */
function assembleModule(): Uint8Array<ArrayBuffer> {
  const code: number[] = [1, ...unsigned(LOCAL_COUNT), I64];
  for (let lane = 0; lane < 25; lane += 1) {
    code.push(0x41, ...signed64(BigInt(8 * lane)), OP.load, 3, 0, ...set(A + lane));
  }
  for (const constant of roundConstants()) code.push(...assembleRound(constant));
  for (let lane = 0; lane < 25; lane += 1) {
    code.push(0x41, ...signed64(BigInt(8 * lane)), ...get(A + lane), OP.store, 3, 0);
  }
  code.push(0x0b);
  const section = (id: number, body: number[]): number[] => [id, ...unsigned(body.length), ...body];
  const name = (text: string): number[] => [text.length, ...Buffer.from(text)];
  return Uint8Array.from([
    ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, [1, 0x60, 0, 0]),
    ...section(3, [1, 0]),
    ...section(5, [1, 0, 1]),
    ...section(7, [2, ...name('memory'), 2, 0, ...name('permute'), 0, 0]),
    ...section(10, [1, ...unsigned(code.length), ...code]),
  ]);
}

/** Made at the first use. */
let compiled: WebAssembly.Module | null = null;

/**
 * A hasher of hex strings of at most 135 bytes. The returned view is the hasher's own 32 bytes: read it before the
 * next call.
 * @throws RangeError when the input is longer.
 */
export function createKeccak(): (input: Hex) => Uint8Array {
  compiled ??= new WebAssembly.Module(assembleModule());
  const { exports } = new WebAssembly.Instance(compiled);
  const memory = exports['memory'];
  const permute = exports['permute'];
  if (!(memory instanceof WebAssembly.Memory) || typeof permute !== 'function') {
    throw new TypeError('the Keccak module lacks its exports');
  }
  const state = Buffer.from(memory.buffer, 0, STATE_BYTES);
  const digest = new Uint8Array(memory.buffer, 0, 32);
  return (input) => {
    const length = (input.length - 2) / 2;
    if (length > KECCAK_INPUT_BYTES_MAX) throw new RangeError(`Keccak input of ${length} bytes`);
    state.fill(0);
    state.write(input.slice(2), 0, length, 'hex');
    state[length] = 0x01;
    state[RATE_BYTES - 1] = (state[RATE_BYTES - 1] ?? 0) | 0x80;
    permute();
    return digest;
  };
}
