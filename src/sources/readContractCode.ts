/** Reads contract code from a node: its hash, its size and the targets of a proxy. */
import { keccak256 } from 'ethers';

import type { EndpointPool } from '../chain/rpc/endpointPool';
import type { RpcCall } from '../chain/rpc/rpcTransport';
import type { ContractCodeRow } from '../clickhouse/schema/explorerTables';
import { addressOfWord, isHexData, toLowerHex, ZERO_ADDRESS, ZERO_HASH, type Hex } from '../domain/hex';
import {
  BEACON_SLOT,
  FACETS_SELECTOR,
  IMPLEMENTATION_SELECTOR,
  IMPLEMENTATION_SLOT,
  LEGACY_SLOT,
  PROXIABLE_SLOT,
  readMinimalProxy,
  type ProxyKind,
} from '../domain/proxies';
import { AppError } from '../errors';

/** Gas limit of one call. */
const CALL_GAS: Hex = '0x4c4b40';
/** Size limit of an answer in bytes: enough for the addresses of a thousand facets. */
const ANSWER_BYTES_MAX = 65_536;
const SLOTS: readonly (readonly [ProxyKind, Hex])[] = [
  ['eip1967', IMPLEMENTATION_SLOT],
  ['eip1967_beacon', BEACON_SLOT],
  ['eip1822', PROXIABLE_SLOT],
  ['openzeppelin_legacy', LEGACY_SLOT],
];
const DELEGATECALL = 0xf4;
const [PUSH1, PUSH32] = [0x60, 0x7f];

export type CodeRpc = Pick<EndpointPool, 'batchOutcomes'>;
type FoundCode = Pick<
  ContractCodeRow,
  'address' | 'code_hash' | 'code_size' | 'implementation' | 'beacon'
> & { readonly proxy: ProxyKind | '' };

/**
 * Results in the order of the addresses. Null for a contract whose code or proxy slots the node does not give.
 * Rejects if the node does not answer.
 */
export async function readContractCodes(
  rpc: CodeRpc,
  addresses: readonly Hex[],
  signal: AbortSignal,
): Promise<(FoundCode | null)[]> {
  const ask = async (calls: readonly RpcCall[]): Promise<(Hex | null)[]> =>
    calls.length === 0 ? [] : askAll(rpc, calls, signal);
  const codes = await ask(
    addresses.map((address) => ({ method: 'eth_getCode', params: [address, 'latest'] })),
  );
  const found = addresses.map((address, index): FoundCode | null => {
    const code = codes[index] ?? null;
    if (code === null) return null;
    const target = readMinimalProxy(code);
    return {
      address,
      code_hash: code === '0x' ? ZERO_HASH : hashOf(code),
      code_size: (code.length - 2) / 2,
      proxy: target === null ? '' : 'eip1167',
      implementation: target ?? ZERO_ADDRESS,
      beacon: ZERO_ADDRESS,
    };
  });
  // Possible proxies. Code without DELEGATECALL is no proxy, so most contracts need no further calls.
  const suspects = found.flatMap((one, index) =>
    one?.proxy === '' && delegates(codes[index] ?? '0x') ? [index] : [],
  );
  const addressOf = (index: number): Hex => addresses[index] ?? ZERO_ADDRESS;
  const words = await ask(
    suspects.flatMap((index) =>
      SLOTS.map(([, slot]) => ({ method: 'eth_getStorageAt', params: [addressOf(index), slot, 'latest'] })),
    ),
  );
  const rest: number[] = [];
  const beacons: number[] = [];
  suspects.forEach((index, place) => {
    const mine = words.slice(place * SLOTS.length, (place + 1) * SLOTS.length);
    const slot = mine.findIndex((word) => targetOf(word) !== null);
    const [kind] = SLOTS[slot] ?? [];
    const target = targetOf(mine[slot]);
    const one = found[index] ?? undefined;
    if (mine.includes(null)) found[index] = null;
    else if (kind === undefined || target === null || one === undefined) rest.push(index);
    else if (kind === 'eip1967_beacon') {
      beacons.push(index);
      found[index] = { ...one, proxy: kind, beacon: target };
    } else found[index] = { ...one, proxy: kind, implementation: target };
  });
  const answers = await ask([
    ...beacons.map((index) => call(found[index]?.beacon ?? ZERO_ADDRESS, IMPLEMENTATION_SELECTOR)),
    ...rest.map((index) => call(addressOf(index), FACETS_SELECTOR)),
  ]);
  beacons.forEach((index, place) => {
    const one = found[index] ?? undefined;
    const target = targetOf(answers[place]);
    if (one !== undefined && target !== null) found[index] = { ...one, implementation: target };
  });
  rest.forEach((index, place) => {
    const one = found[index] ?? undefined;
    if (one !== undefined && isAddressList(answers[beacons.length + place]))
      found[index] = { ...one, proxy: 'eip2535' };
  });
  return found;
}

function hashOf(code: Hex): Hex {
  return `0x${keccak256(code).slice(2)}`;
}

function call(to: Hex, data: Hex): RpcCall {
  const params = [{ to, data, gas: CALL_GAS }, 'latest'];
  return { method: 'eth_call', params, answerBytesMax: ANSWER_BYTES_MAX };
}

/** Result of the call; null if it reverted, or if its answer was too large. */
async function askAll(rpc: CodeRpc, calls: readonly RpcCall[], signal: AbortSignal): Promise<(Hex | null)[]> {
  const outcomes = await rpc.batchOutcomes(calls, readData, { signal, roundsMax: 2 });
  return outcomes.map((answer) => {
    if ('value' in answer) return answer.value;
    if (answer.error.kind === 'revert' || answer.error.cut === 'call' || answer.error.malformed) return null;
    throw answer.error;
  });
}

function readData(result: unknown): Hex {
  if (isHexData(result)) return toLowerHex(result);
  throw new AppError('node_failed', 'the node returned a value that is not hex data');
}

/** The address in a word; null for zero, or if the word is not an address. */
function targetOf(word: Hex | null | undefined): Hex | null {
  if (word === null || word === undefined || word.length !== 66 || !word.startsWith(`0x${'0'.repeat(24)}`))
    return null;
  const target = addressOfWord(word);
  return target === ZERO_ADDRESS ? null : target;
}

/** Whether the answer is a non-empty ABI-encoded address[]. */
function isAddressList(data: Hex | null | undefined): boolean {
  if (data === null || data === undefined) return false;
  const words = data.slice(2).match(/.{64}/g) ?? [];
  const [offset, length, ...items] = words;
  const count = Number(`0x${length ?? '0'}`);
  return (
    Number(`0x${offset ?? '0'}`) === 32 &&
    count > 0 &&
    items.length === count &&
    items.every((word) => targetOf(`0x${word}`) !== null)
  );
}

/** Whether the code contains the DELEGATECALL opcode outside of pushed data. */
function delegates(code: Hex): boolean {
  const bytes = Buffer.from(code.slice(2), 'hex');
  for (let at = 0; at < bytes.length; at += 1) {
    const opcode = bytes[at] ?? 0;
    if (opcode === DELEGATECALL) return true;
    if (opcode >= PUSH1 && opcode <= PUSH32) at += opcode - PUSH1 + 1;
  }
  return false;
}
