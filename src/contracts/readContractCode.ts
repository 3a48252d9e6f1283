/** Reads contract code from a node: its hash, its size and the targets of a proxy, now or at an older block. */
import { keccak256 } from 'ethers';

import type { EndpointPool } from '../node/rpc/endpointPool';
import { RpcError, type RpcErrorKind } from '../node/rpc/rpcError';
import type { RpcCall } from '../node/rpc/rpcTransport';
import type { ContractCodeRow } from '../clickhouse/schema/explorerTables';
import { isHexData, numberToHex, toLowerHex, ZERO_ADDRESS, ZERO_HASH, type Hex } from '../domain/hex';
import {
  BEACON_SLOT,
  FACETS_SELECTOR,
  IMPLEMENTATION_SELECTOR,
  IMPLEMENTATION_SLOT,
  LEGACY_SLOT,
  MASTER_COPY_SELECTOR,
  PROXIABLE_SLOT,
  type ProxyKind,
} from '../domain/proxies';
import { AppError } from '../errors';
import { readAbilities, readDelegation, readForwarding, type Forwarding, type Place } from './forwarding';

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
/** Failures that say nothing about the state of an older block. */
const UNANSWERED: ReadonlySet<RpcErrorKind> = new Set(['network', 'timeout', 'refused', 'rate_limited']);
/** The proxy of Safe before version 1.1.1, which has no function masterCopy(): it loads slot 0 first. */
const OLD_SAFE = /^0x608060405273f{40}600054163660008037/;

export type CodeRpc = Pick<EndpointPool, 'batchOutcomes'>;
export type FoundCode = Omit<ContractCodeRow, 'checked_block' | 'version'>;

/** A contract whose code is read. `found` grows while its storage is read. */
interface Suspect {
  readonly address: Hex;
  readonly tag: string;
  readonly code: Hex;
  readonly delegates: boolean;
  readonly forwarding: Forwarding | null;
  found: FoundCode;
}

/** Asks for the code at the end of a block. */
interface CodeQuestion {
  readonly address: Hex;
  readonly block: number | 'latest';
}

/**
 * Results in the order of the questions. Null for a contract whose code or proxy slots the node does not give, or if
 * the node no longer has the state of an older block. Rejects if the node does not answer.
 */
export async function readContractCodes(
  rpc: CodeRpc,
  questions: readonly CodeQuestion[],
  signal: AbortSignal,
): Promise<(FoundCode | null)[]> {
  const ask = async (calls: readonly RpcCall[]): Promise<(Hex | null)[]> =>
    calls.length === 0 ? [] : askAll(rpc, calls, signal);
  const codes = await ask(
    questions.map(({ address, block }) => ({ method: 'eth_getCode', params: [address, tagOf(block)] })),
  );
  const own = questions.map((question, index) => readCode(question, codes[index] ?? null));
  const { behind, missing } = await readBehind(own, ask);
  const read = [...own, ...behind.values()];
  // Code without DELEGATECALL is no proxy, so most contracts need no further calls.
  const suspects = read
    .filter((one) => one !== null)
    .filter((one) => one.found.proxy === '' && one.delegates);
  const words = await ask(
    suspects.flatMap((one) =>
      slotsOf(one).map((slot) => ({ method: 'eth_getStorageAt', params: [one.address, slot, one.tag] })),
    ),
  );
  let place = 0;
  const [beacons, open]: [(readonly [Suspect, Hex])[], (readonly [Suspect, Hex | null])[]] = [[], []];
  for (const one of suspects) {
    const mine = words.slice(place, (place += slotsOf(one).length));
    if (mine.includes(null)) missing.add(one);
    const slot = mine.slice(0, SLOTS.length).findIndex((word) => targetOf(word) !== null);
    const [kind] = SLOTS[slot] ?? [];
    const target = targetOf(mine[slot]);
    if (kind === undefined || target === null) open.push([one, ownTarget(one, mine[SLOTS.length])]);
    else if (kind === 'eip1967_beacon') beacons.push([one, target]);
    else one.found = { ...one.found, proxy: kind, implementation: target };
  }
  // A diamond answers facetAddresses(). Its code may forward to one slot too.
  const facets = await ask(open.map(([one]) => call(one.address, FACETS_SELECTOR, one.tag)));
  open.forEach(([one, pointed], index) => {
    const list = readAddressList(facets[index]);
    if (list !== null) one.found = { ...one.found, proxy: 'eip2535', facets: list.join() };
    else if (pointed !== null && one.forwarding?.kind === 'beacon') {
      one.found = { ...one.found, proxy: 'beacon' };
      beacons.push([one, pointed]);
    } else if (pointed !== null) one.found = { ...one.found, proxy: 'custom_slot', implementation: pointed };
  });
  // The proxy of a Safe answers masterCopy() itself.
  const safes = read
    .filter((one) => one !== null)
    .filter((one) => one.found.proxy === 'custom_slot' && usesFirstSlot(one));
  const masters = await ask(safes.map((one) => call(one.address, MASTER_COPY_SELECTOR, one.tag)));
  safes.forEach((one, index) => {
    if (targetOf(masters[index]) === one.found.implementation || OLD_SAFE.test(one.code))
      one.found = { ...one.found, proxy: 'safe' };
  });
  const told = await ask(beacons.map(([one, beacon]) => call(beacon, IMPLEMENTATION_SELECTOR, one.tag)));
  beacons.forEach(([one, beacon], index) => {
    const implementation = targetOf(told[index]) ?? ZERO_ADDRESS;
    one.found = { ...one.found, proxy: one.found.proxy || 'eip1967_beacon', beacon, implementation };
  });
  return own.map((one) => {
    const inner = one === null ? undefined : behind.get(one);
    if (one === null || missing.has(one) || (inner !== undefined && missing.has(inner))) return null;
    if (inner === undefined) return one.found;
    const { implementation, facets } = inner.found;
    return { ...one.found, facets: implementation === ZERO_ADDRESS ? facets : implementation };
  });
}

/**
 * The code behind each delegation (EIP-7702), as code of the account: it runs with the storage of the account, so a proxy
 * finds its implementation there. A delegation behind a delegation does not count.
 */
async function readBehind(
  own: readonly (Suspect | null)[],
  ask: (calls: readonly RpcCall[]) => Promise<(Hex | null)[]>,
): Promise<{ readonly behind: ReadonlyMap<Suspect, Suspect>; readonly missing: Set<Suspect> }> {
  const accounts = own.filter((one) => one?.found.proxy === 'eip7702').filter((one) => one !== null);
  const codes = await ask(
    accounts.map(({ found, tag }) => ({ method: 'eth_getCode', params: [found.implementation, tag] })),
  );
  const behind = new Map<Suspect, Suspect>();
  const missing = new Set<Suspect>();
  for (const [index, account] of accounts.entries()) {
    const inner = toSuspect(account.address, account.tag, codes[index] ?? null);
    if (inner === null) missing.add(account);
    else if (inner.found.proxy !== 'eip7702') behind.set(account, inner);
  }
  return { behind, missing };
}

const tagOf = (block: CodeQuestion['block']): string => (block === 'latest' ? block : numberToHex(block));

/** The slots of the EIPs, then the slot of the implementation or beacon that the code itself names. */
function slotsOf({ forwarding }: Suspect): Hex[] {
  const slots = SLOTS.map(([, slot]) => slot);
  return forwarding?.place.from === 'slot' ? [...slots, forwarding.place.slot] : slots;
}

function call(to: Hex, data: Hex, tag: string): RpcCall {
  const params = [{ to, data, gas: CALL_GAS }, tag];
  return { method: 'eth_call', params, answerBytesMax: ANSWER_BYTES_MAX };
}

const readCode = ({ address, block }: CodeQuestion, code: Hex | null): Suspect | null =>
  toSuspect(address, tagOf(block), code);

function toSuspect(address: Hex, tag: string, code: Hex | null): Suspect | null {
  if (code === null) return null;
  const { delegates, canEnd } = readAbilities(code);
  const delegation = readDelegation(code);
  const forwarding = delegates && delegation === null ? readForwarding(code) : null;
  const clone = forwarding?.kind === 'implementation' ? addressIn(forwarding.place) : null;
  const target = delegation ?? clone;
  const found: FoundCode = {
    address,
    code_hash: code === '0x' ? ZERO_HASH : `0x${keccak256(code).slice(2)}`,
    code_size: (code.length - 2) / 2,
    proxy: target === null ? '' : delegation === null ? 'eip1167' : 'eip7702',
    implementation: target ?? ZERO_ADDRESS,
    beacon: ZERO_ADDRESS,
    facets: '',
    fixed: code !== '0x' && delegation === null && !canEnd,
  };
  return { address, tag, code, delegates, forwarding, found };
}

const addressIn = (place: Place): Hex | null => (place.from === 'code' ? place.address : null);

/** The implementation or beacon to which the code itself points. `word` is the content of its own slot. */
function ownTarget({ forwarding }: Suspect, word: Hex | null | undefined): Hex | null {
  if (forwarding === null) return null;
  return forwarding.place.from === 'code'
    ? forwarding.place.address
    : packedTarget(word, forwarding.place.shift);
}

function usesFirstSlot({ forwarding }: Suspect): boolean {
  return forwarding?.place.from === 'slot' && BigInt(forwarding.place.slot) === 0n;
}

/**
 * Result of the call; null if it reverted, if its answer was too large, or if the node no longer has the state of an older
 * block.
 */
async function askAll(rpc: CodeRpc, calls: readonly RpcCall[], signal: AbortSignal): Promise<(Hex | null)[]> {
  const options = { signal, roundsMax: 2 };
  const outcomes = await rpc.batchOutcomes(calls, readData, options).catch((error: unknown) => {
    // If all calls fail, the pool throws the error of one.
    if (error instanceof RpcError) return calls.map(() => ({ error }));
    throw error;
  });
  return outcomes.map((answer, index) => {
    if ('value' in answer) return answer.value;
    const { kind, cut, malformed } = answer.error;
    if (kind === 'revert' || cut === 'call' || malformed) return null;
    if (calls[index]?.params.at(-1) !== 'latest' && !UNANSWERED.has(kind)) return null;
    throw answer.error;
  });
}

function readData(result: unknown): Hex {
  if (isHexData(result)) return toLowerHex(result);
  throw new AppError('node_failed', 'the node returned a value that is not hex data');
}

/** The address in a word that contains nothing else; null for zero. */
function targetOf(word: Hex | null | undefined): Hex | null {
  return word?.startsWith(`0x${'0'.repeat(24)}`) === true ? packedTarget(word, 0) : null;
}

/** The address in a word, `shift` bits above the lowest bit, beside other values; null for zero. */
function packedTarget(word: Hex | null | undefined, shift: number): Hex | null {
  if (word === null || word === undefined || word.length !== 66) return null;
  const target = (BigInt(word) >> BigInt(shift)) & (2n ** 160n - 1n);
  return target === 0n ? null : `0x${target.toString(16).padStart(40, '0')}`;
}

/** The items of a non-empty ABI-encoded address[]; null for other data. */
function readAddressList(data: Hex | null | undefined): Hex[] | null {
  if (data === null || data === undefined) return null;
  const words = data.slice(2).match(/.{64}/g) ?? [];
  const [offset, length, ...items] = words;
  const count = Number(`0x${length ?? '0'}`);
  if (Number(`0x${offset ?? '0'}`) !== 32 || count === 0 || items.length !== count) return null;
  const list = items.flatMap((word) => targetOf(`0x${word}`) ?? []);
  return list.length === count ? list : null;
}
