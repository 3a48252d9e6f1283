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
const PROXY_SLOTS: readonly (readonly [ProxyKind, Hex])[] = [
  ['eip1967', IMPLEMENTATION_SLOT],
  ['eip1967_beacon', BEACON_SLOT],
  ['eip1822', PROXIABLE_SLOT],
  ['openzeppelin_legacy', LEGACY_SLOT],
];
/** Failures that say nothing about the state of an older block. */
const UNANSWERED_KINDS: ReadonlySet<RpcErrorKind> = new Set([
  'network',
  'timeout',
  'refused',
  'rate_limited',
]);
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
    calls.length === 0 ? [] : readAllAnswers(rpc, calls, signal);
  const codes = await ask(
    questions.map(({ address, block }) => ({ method: 'eth_getCode', params: [address, tagOf(block)] })),
  );
  const ownSuspects = questions.map((question, index) => readCode(question, codes[index] ?? null));
  const { delegatedByAccount, missing } = await readBehind(ownSuspects, ask);
  const allSuspects = [...ownSuspects, ...delegatedByAccount.values()].filter((suspect) => suspect !== null);
  // Code without DELEGATECALL is no proxy, so most contracts need no further calls.
  const suspects = allSuspects.filter((suspect) => suspect.found.proxy === '' && suspect.delegates);
  const slotWords = await ask(
    suspects.flatMap((suspect) =>
      slotsToRead(suspect).map((slot) => ({
        method: 'eth_getStorageAt',
        params: [suspect.address, slot, suspect.tag],
      })),
    ),
  );
  let wordIndex = 0;
  const beaconProxies: (readonly [Suspect, Hex])[] = [];
  const undecided: (readonly [Suspect, Hex | null])[] = [];
  for (const suspect of suspects) {
    const ownWords = slotWords.slice(wordIndex, (wordIndex += slotsToRead(suspect).length));
    if (ownWords.includes(null)) missing.add(suspect);
    const slotIndex = ownWords.slice(0, PROXY_SLOTS.length).findIndex((word) => addressInWord(word) !== null);
    const [kind] = PROXY_SLOTS[slotIndex] ?? [];
    const target = addressInWord(ownWords[slotIndex]);
    if (kind === undefined || target === null)
      undecided.push([suspect, ownTarget(suspect, ownWords[PROXY_SLOTS.length])]);
    else if (kind === 'eip1967_beacon') beaconProxies.push([suspect, target]);
    else suspect.found = { ...suspect.found, proxy: kind, implementation: target };
  }
  // A diamond answers facetAddresses(). Its code may forward to one slot too.
  const facets = await ask(undecided.map(([suspect]) => call(suspect.address, FACETS_SELECTOR, suspect.tag)));
  undecided.forEach(([suspect, pointedTarget], index) => {
    const list = readAddressList(facets[index]);
    if (list !== null) suspect.found = { ...suspect.found, proxy: 'eip2535', facets: list.join() };
    else if (pointedTarget !== null && suspect.forwarding?.kind === 'beacon') {
      suspect.found = { ...suspect.found, proxy: 'beacon' };
      beaconProxies.push([suspect, pointedTarget]);
    } else if (pointedTarget !== null)
      suspect.found = { ...suspect.found, proxy: 'custom_slot', implementation: pointedTarget };
  });
  await markSafes(allSuspects, ask);
  const beaconTargets = await ask(
    beaconProxies.map(([suspect, beacon]) => call(beacon, IMPLEMENTATION_SELECTOR, suspect.tag)),
  );
  beaconProxies.forEach(([suspect, beacon], index) => {
    const implementation = addressInWord(beaconTargets[index]) ?? ZERO_ADDRESS;
    const proxy = suspect.found.proxy || 'eip1967_beacon';
    suspect.found = { ...suspect.found, proxy, beacon, implementation };
  });
  return ownSuspects.map((suspect) => {
    const inner = suspect === null ? undefined : delegatedByAccount.get(suspect);
    if (suspect === null || missing.has(suspect) || (inner !== undefined && missing.has(inner))) return null;
    if (inner === undefined) return suspect.found;
    const { implementation, facets } = inner.found;
    return { ...suspect.found, facets: implementation === ZERO_ADDRESS ? facets : implementation };
  });
}

/** Names the proxies of Safes, which answer masterCopy() themselves. */
async function markSafes(
  suspects: readonly Suspect[],
  ask: (calls: readonly RpcCall[]) => Promise<(Hex | null)[]>,
): Promise<void> {
  const safes = suspects.filter((suspect) => suspect.found.proxy === 'custom_slot' && usesFirstSlot(suspect));
  const masterCopies = await ask(
    safes.map((suspect) => call(suspect.address, MASTER_COPY_SELECTOR, suspect.tag)),
  );
  safes.forEach((suspect, index) => {
    if (addressInWord(masterCopies[index]) === suspect.found.implementation || OLD_SAFE.test(suspect.code))
      suspect.found = { ...suspect.found, proxy: 'safe' };
  });
}

/**
 * The code behind each delegation (EIP-7702), as code of the account: it runs with the storage of the account, so a proxy
 * finds its implementation there. A delegation behind a delegation does not count.
 */
async function readBehind(
  own: readonly (Suspect | null)[],
  ask: (calls: readonly RpcCall[]) => Promise<(Hex | null)[]>,
): Promise<{ readonly delegatedByAccount: ReadonlyMap<Suspect, Suspect>; readonly missing: Set<Suspect> }> {
  const accounts = own
    .filter((suspect) => suspect?.found.proxy === 'eip7702')
    .filter((suspect) => suspect !== null);
  const codes = await ask(
    accounts.map(({ found, tag }) => ({ method: 'eth_getCode', params: [found.implementation, tag] })),
  );
  const delegatedByAccount = new Map<Suspect, Suspect>();
  const missing = new Set<Suspect>();
  for (const [index, account] of accounts.entries()) {
    const inner = toSuspect(account.address, account.tag, codes[index] ?? null);
    if (inner === null) missing.add(account);
    else if (inner.found.proxy !== 'eip7702') delegatedByAccount.set(account, inner);
  }
  return { delegatedByAccount, missing };
}

const tagOf = (block: CodeQuestion['block']): string => (block === 'latest' ? block : numberToHex(block));

/** The slots of the EIPs, then the slot of the implementation or beacon that the code itself names. */
function slotsToRead({ forwarding }: Suspect): Hex[] {
  const slots = PROXY_SLOTS.map(([, slot]) => slot);
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
async function readAllAnswers(
  rpc: CodeRpc,
  calls: readonly RpcCall[],
  signal: AbortSignal,
): Promise<(Hex | null)[]> {
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
    if (calls[index]?.params.at(-1) !== 'latest' && !UNANSWERED_KINDS.has(kind)) return null;
    throw answer.error;
  });
}

function readData(result: unknown): Hex {
  if (isHexData(result)) return toLowerHex(result);
  throw new AppError('node_failed', 'the node returned a value that is not hex data');
}

/** The address in a word that contains nothing else; null for zero. */
function addressInWord(word: Hex | null | undefined): Hex | null {
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
  const list = items.flatMap((word) => addressInWord(`0x${word}`) ?? []);
  return list.length === count ? list : null;
}
