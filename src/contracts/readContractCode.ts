/** Reads contract code from a node: its hash, its size and the targets of a proxy, now or at an older block. */
import { keccak256 } from 'ethers';

import { askContracts, type BlockTag, type EthCalls, type StateCall } from '../node/calls/askContracts';
import type { ContractCodeRow } from '../clickhouse/schema/explorerTables';
import { callData, type ContractCall } from '../domain/contractCall';
import { numberToHex, ZERO_ADDRESS, ZERO_HASH, type Hex } from '../domain/hex';
import {
  BEACON_SLOT,
  IMPLEMENTATION_SLOT,
  LEGACY_SLOT,
  PROXIABLE_SLOT,
  type ProxyKind,
} from '../domain/proxies';
import { readAbilities, readDelegation, readForwarding, type Forwarding, type Place } from './forwarding';

/** Size limit in bytes of the addresses of facets: enough for a thousand. */
const FACETS_BYTES_MAX = 65_536;
const SLOTS: readonly (readonly [ProxyKind, Hex])[] = [
  ['eip1967', IMPLEMENTATION_SLOT],
  ['eip1967_beacon', BEACON_SLOT],
  ['eip1822', PROXIABLE_SLOT],
  ['openzeppelin_legacy', LEGACY_SLOT],
];
/** The proxy of Safe before version 1.1.1, which has no function masterCopy(): it loads slot 0 first. */
const OLD_SAFE = /^0x608060405273f{40}600054163660008037/;

export type FoundCode = Omit<ContractCodeRow, 'checked_block' | 'version'>;

/** A contract whose code is read. `found` grows while its storage is read. */
interface Suspect {
  readonly address: Hex;
  readonly tag: Hex | 'latest';
  readonly code: Hex;
  readonly delegates: boolean;
  /** Where the target of the calls stands; null if the code does not tell. */
  readonly forwarding: Forwarding | null;
  found: FoundCode;
}

/** Makes calls for each of these contracts at its block. Returns the answers of each. */
type Ask = <T extends Pick<Suspect, 'tag'>>(
  places: readonly T[],
  callsOf: (place: T) => readonly StateCall[],
) => Promise<(readonly (Hex | null)[])[]>;

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
  rpc: EthCalls,
  questions: readonly CodeQuestion[],
  signal: AbortSignal,
): Promise<(FoundCode | null)[]> {
  const ask: Ask = async (places, callsOf) => {
    const blockTag = (index: number): BlockTag => places[index]?.tag ?? 'latest';
    const results = await askContracts(rpc, places.map(callsOf), {
      at: blockTag,
      missing: 'null',
      roundsMax: 2,
      signal,
    });
    return results.map(({ answers }) => answers);
  };
  const askedPlaces = questions.map(({ address, block }) => ({ address, tag: tagOf(block) }));
  const codes = await ask(askedPlaces, ({ address }) => [{ codeOf: address }]);
  const contracts = askedPlaces.map(({ address, tag }, index) =>
    toSuspect(address, tag, codes[index]?.[0] ?? null),
  );
  const { behind: delegatedCodes, missing: unreadable } = await readDelegatedCodes(contracts, ask);
  const readSuspects = [...contracts, ...delegatedCodes.values()];
  // Code without DELEGATECALL is no proxy, so most contracts need no further calls.
  const suspects = readSuspects
    .filter((suspect) => suspect !== null)
    .filter((suspect) => suspect.found.proxy === '' && suspect.delegates);
  const slotWords = await ask(suspects, (suspect) =>
    slotsOf(suspect).map((slot) => ({ slot, storageOf: suspect.address })),
  );
  const [beacons, undecided]: [(readonly [Suspect, Hex])[], (readonly [Suspect, Hex | null])[]] = [[], []];
  for (const [index, suspect] of suspects.entries()) {
    const ownWords = slotWords[index] ?? [];
    if (ownWords.includes(null)) unreadable.add(suspect);
    const slotIndex = ownWords.slice(0, SLOTS.length).findIndex((word) => targetOf(word) !== null);
    const [kind] = SLOTS[slotIndex] ?? [];
    const target = targetOf(ownWords[slotIndex]);
    if (kind === undefined || target === null)
      undecided.push([suspect, ownTarget(suspect, ownWords[SLOTS.length])]);
    else if (kind === 'eip1967_beacon') beacons.push([suspect, target]);
    else suspect.found = { ...suspect.found, proxy: kind, implementation: target };
  }
  // A diamond answers facetAddresses(). Its code may forward to one slot too.
  const facets = await ask(
    undecided.map(([suspect]) => suspect),
    ({ address }) => [viewOf(address, 'facetAddresses()', FACETS_BYTES_MAX)],
  );
  undecided.forEach(([suspect, pointedTarget], index) => {
    const facetList = readAddressList(facets[index]?.[0]);
    if (facetList !== null) suspect.found = { ...suspect.found, proxy: 'eip2535', facets: facetList.join() };
    else if (pointedTarget !== null && suspect.forwarding?.kind === 'beacon') {
      suspect.found = { ...suspect.found, proxy: 'beacon' };
      beacons.push([suspect, pointedTarget]);
    } else if (pointedTarget !== null)
      suspect.found = { ...suspect.found, proxy: 'custom_slot', implementation: pointedTarget };
  });
  await markSafes(
    readSuspects.filter((suspect) => suspect !== null),
    ask,
  );
  await readBeacons(beacons, ask);
  return contracts.map((suspect) => {
    const delegated = suspect === null ? undefined : delegatedCodes.get(suspect);
    if (suspect === null || unreadable.has(suspect) || (delegated !== undefined && unreadable.has(delegated)))
      return null;
    if (delegated === undefined) return suspect.found;
    const { implementation, facets } = delegated.found;
    return { ...suspect.found, facets: implementation === ZERO_ADDRESS ? facets : implementation };
  });
}

/** Marks the proxies of Safes. Such a proxy answers masterCopy() itself. */
async function markSafes(suspects: readonly Suspect[], ask: Ask): Promise<void> {
  const safes = suspects.filter((suspect) => suspect.found.proxy === 'custom_slot' && usesFirstSlot(suspect));
  const masters = await ask(safes, ({ address }) => [viewOf(address, 'masterCopy()')]);
  safes.forEach((safe, index) => {
    if (targetOf(masters[index]?.[0]) === safe.found.implementation || OLD_SAFE.test(safe.code))
      safe.found = { ...safe.found, proxy: 'safe' };
  });
}

/** Reads the implementations of proxies from their beacons. */
async function readBeacons(beacons: readonly (readonly [Suspect, Hex])[], ask: Ask): Promise<void> {
  const implementations = await ask(
    beacons.map(([{ tag }, address]) => ({ tag, address })),
    ({ address }) => [viewOf(address, 'implementation()')],
  );
  beacons.forEach(([suspect, beacon], index) => {
    const implementation = targetOf(implementations[index]?.[0]) ?? ZERO_ADDRESS;
    const proxy = suspect.found.proxy || 'eip1967_beacon';
    suspect.found = { ...suspect.found, proxy, beacon, implementation };
  });
}

/**
 * The code behind each delegation (EIP-7702), as code of the account: it runs with the storage of the account, so a proxy
 * finds its implementation there. A delegation behind a delegation does not count.
 */
async function readDelegatedCodes(
  contracts: readonly (Suspect | null)[],
  ask: Ask,
): Promise<{ readonly behind: ReadonlyMap<Suspect, Suspect>; readonly missing: Set<Suspect> }> {
  const accounts = contracts
    .filter((contract) => contract?.found.proxy === 'eip7702')
    .filter((contract) => contract !== null);
  const codes = await ask(accounts, ({ found }) => [{ codeOf: found.implementation }]);
  const delegatedCodes = new Map<Suspect, Suspect>();
  const unreadable = new Set<Suspect>();
  for (const [index, account] of accounts.entries()) {
    const delegated = toSuspect(account.address, account.tag, codes[index]?.[0] ?? null);
    if (delegated === null) unreadable.add(account);
    else if (delegated.found.proxy !== 'eip7702') delegatedCodes.set(account, delegated);
  }
  return { behind: delegatedCodes, missing: unreadable };
}

const tagOf = (block: CodeQuestion['block']): Suspect['tag'] =>
  block === 'latest' ? block : numberToHex(block);

/** The slots of the EIPs, then the slot of the implementation or beacon that the code itself names. */
function slotsOf({ forwarding }: Suspect): Hex[] {
  const slots = SLOTS.map(([, slot]) => slot);
  return forwarding?.place.from === 'slot' ? [...slots, forwarding.place.slot] : slots;
}

function viewOf(to: Hex, signature: string, answerBytesMax?: number): ContractCall {
  return { to, data: callData(signature), ...(answerBytesMax !== undefined && { answerBytesMax }) };
}

/**
 * What the code alone tells, before any storage is read: a delegation (EIP-7702), or a clone whose code contains the
 * address of its implementation. Null if the node did not give the code.
 */
function toSuspect(address: Hex, tag: Suspect['tag'], code: Hex | null): Suspect | null {
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
