/** keccak256 of short inputs, as in https://keccak.team/keccak_specs_summary.html, and the checksum of EIP-55. Pure. */

const ROUNDS = 24;
const LANES = 25;
/** Bytes of input per permutation, for a hash of 256 bits. */
const RATE_BYTES = 136;
const MASK = (1n << 64n) - 1n;

/** Rotations of the step rho, by lane x + 5y. */
const ROTATIONS = [
  0, 1, 62, 28, 27, 36, 44, 6, 55, 20, 3, 10, 43, 25, 39, 41, 45, 15, 21, 8, 18, 2, 61, 56, 14,
];

/** The round constants come from a shift register of 8 bits. */
const ROUND_CONSTANTS = makeConstants();

function makeConstants(): bigint[] {
  const constants: bigint[] = [];
  let register = 1;
  for (let round = 0; round < ROUNDS; round += 1) {
    let constant = 0n;
    for (let bit = 0; bit <= 6; bit += 1) {
      if ((register & 1) === 1) constant |= 1n << BigInt((1 << bit) - 1);
      register = (register << 1) ^ (register >> 7 === 1 ? 0x171 : 0);
    }
    constants.push(constant);
  }
  return constants;
}

const rotate = (lane: bigint, bits: number): bigint =>
  bits === 0 ? lane : ((lane << BigInt(bits)) | (lane >> BigInt(64 - bits))) & MASK;

/** The lane at this index; the index is always inside of the state. */
const laneAt = (lanes: readonly bigint[], index: number): bigint => lanes[index] ?? 0n;

function permute(state: readonly bigint[]): bigint[] {
  let lanes = [...state];
  for (const constant of ROUND_CONSTANTS) {
    const columns = [0, 1, 2, 3, 4].map((x) =>
      [0, 5, 10, 15, 20].reduce((sum, y) => sum ^ laneAt(lanes, x + y), 0n),
    );
    const thetaLanes = lanes.map(
      (lane, index) =>
        lane ^ laneAt(columns, ((index % 5) + 4) % 5) ^ rotate(laneAt(columns, ((index % 5) + 1) % 5), 1),
    );
    const rhoPiLanes = new Array<bigint>(LANES).fill(0n);
    thetaLanes.forEach((lane, index) => {
      const [x, y] = [index % 5, Math.floor(index / 5)];
      rhoPiLanes[y + 5 * ((2 * x + 3 * y) % 5)] = rotate(lane, ROTATIONS[index] ?? 0);
    });
    lanes = rhoPiLanes.map((lane, index) => {
      const row = index - (index % 5);
      return (
        lane ^
        (~laneAt(rhoPiLanes, row + ((index + 1) % 5)) & MASK & laneAt(rhoPiLanes, row + ((index + 2) % 5)))
      );
    });
    lanes[0] = laneAt(lanes, 0) ^ constant;
  }
  return lanes;
}

/** keccak256 of the bytes, as lower-case hex with 0x. */
export function keccak256(bytes: Uint8Array): string {
  const padded = new Uint8Array((Math.floor(bytes.length / RATE_BYTES) + 1) * RATE_BYTES);
  padded.set(bytes);
  padded[bytes.length] = 1;
  padded[padded.length - 1] = (padded[padded.length - 1] ?? 0) | 0x80;
  const paddedView = new DataView(padded.buffer);
  let lanes = new Array<bigint>(LANES).fill(0n);
  for (let start = 0; start < padded.length; start += RATE_BYTES) {
    for (let lane = 0; lane < RATE_BYTES / 8; lane += 1)
      lanes[lane] = laneAt(lanes, lane) ^ paddedView.getBigUint64(start + lane * 8, true);
    lanes = permute(lanes);
  }
  const hash = new DataView(new ArrayBuffer(32));
  [0, 1, 2, 3].forEach((lane) => hash.setBigUint64(lane * 8, laneAt(lanes, lane), true));
  return `0x${[...new Uint8Array(hash.buffer)].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}

/** keccak256 of a text in UTF-8, such as the signature of a function or an event. */
export function keccakOfText(text: string): string {
  return keccak256(new TextEncoder().encode(text));
}

/** The address in mixed case, as in EIP-55. */
export function toChecksum(address: string): string {
  const digits = address.slice(2).toLowerCase();
  const hash = keccakOfText(digits).slice(2);
  const mixedCase = [...digits].map((digit, index) =>
    Number.parseInt(hash[index] ?? '0', 16) >= 8 ? digit.toUpperCase() : digit,
  );
  return `0x${mixedCase.join('')}`;
}
