/** Reads contract code from a node: its hash, its size and the targets of a proxy, now or at an older block. */
import { keccak256 } from 'ethers';

import type { EndpointPool } from '../chain/rpc/endpointPool';
import type { RpcCall } from '../chain/rpc/rpcTransport';
import type { ContractCodeRow } from '../clickhouse/schema/explorerTables';
import {
  readAbilities,
  readDelegation,
  readForwarding,
  type Forwarding,
  type Place,
} from '../domain/forwarding';
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
/** The proxy of Safe before version 1.1.1, which has no function masterCopy(): it loads slot 0 first. */
const OLD_SAFE = /^0x608060405273f{40}600054163660008037/;

export type CodeRpc = Pick<EndpointPool, 'batchOutcomes'>;
export type FoundCode = Omit<ContractCodeRow, 'proxy' | 'checked_block' | 'version'> & {
  readonly proxy: ProxyKind | '';
};

/** What the code of one contract says, before its storage is read. */
interface Suspect {
  readonly address: Hex;
  readonly code: Hex;
  readonly forwarding: Forwarding | null;
  readonly found: FoundCode;
}

/**
 * Results in the order of the addresses. Null for a contract whose code or proxy slots the node does not give.
 * Rejects if the node does not answer. `block` is a number for an older state, which the node may no longer have.
 */
export async function readContractCodes(
  rpc: CodeRpc,
  addresses: readonly Hex[],
  signal: AbortSignal,
  block: number | 'latest' = 'latest',
): Promise<(FoundCode | null)[]> {
  const tag = block === 'latest' ? block : numberToHex(block);
  const ask = async (calls: readonly RpcCall[]): Promise<(Hex | null)[]> =>
    calls.length === 0 ? [] : askAll(rpc, calls, signal);
  const codes = await ask(addresses.map((address) => ({ method: 'eth_getCode', params: [address, tag] })));
  const suspects: Suspect[] = [];
  const found = new Map<Hex, FoundCode | null>();
  addresses.forEach((address, index) => {
    const code = codes[index] ?? null;
    const one = code === null ? null : readCode(address, code);
    found.set(address, one?.found ?? null);
    // Code without DELEGATECALL is no proxy, so most contracts need no further calls.
    if (one !== null && one.found.proxy === '' && readAbilities(one.code).delegates) suspects.push(one);
  });
  const slotsOf = (one: Suspect): Hex[] => [...SLOTS.map(([, slot]) => slot), ...ownSlots(one)];
  const words = await ask(
    suspects.flatMap((one) =>
      slotsOf(one).map((slot) => ({ method: 'eth_getStorageAt', params: [one.address, slot, tag] })),
    ),
  );
  const call = (to: Hex, data: Hex): RpcCall => ({
    method: 'eth_call',
    params: [{ to, data, gas: CALL_GAS }, tag],
    answerBytesMax: ANSWER_BYTES_MAX,
  });
  let place = 0;
  const beacons: { address: Hex; beacon: Hex; kind: ProxyKind }[] = [];
  const open: { one: Suspect; own: Hex | null }[] = [];
  for (const one of suspects) {
    const mine = words.slice(place, (place += slotsOf(one).length));
    if (mine.includes(null)) {
      found.set(one.address, null);
      continue;
    }
    const slot = mine.slice(0, SLOTS.length).findIndex((word) => targetOf(word) !== null);
    const [kind] = SLOTS[slot] ?? [];
    const target = targetOf(mine[slot]);
    if (kind === undefined || target === null) open.push({ one, own: ownTarget(one, mine[SLOTS.length]) });
    else if (kind === 'eip1967_beacon') beacons.push({ address: one.address, beacon: target, kind });
    else found.set(one.address, { ...one.found, proxy: kind, implementation: target });
  }
  // A diamond answers facetAddresses(). Its code may forward to one slot too.
  const facets = await ask(open.map(({ one }) => call(one.address, FACETS_SELECTOR)));
  open.forEach(({ one, own }, index) => {
    const list = readAddressList(facets[index]);
    if (list !== null) found.set(one.address, { ...one.found, proxy: 'eip2535', facets: list.join() });
    else if (own !== null && one.forwarding?.kind === 'beacon')
      beacons.push({ address: one.address, beacon: own, kind: 'beacon' });
    else if (own !== null)
      found.set(one.address, { ...one.found, proxy: kindOfSlot(one), implementation: own });
  });
  const told = await ask(beacons.map(({ beacon }) => call(beacon, IMPLEMENTATION_SELECTOR)));
  beacons.forEach(({ address, beacon, kind }, index) => {
    const one = found.get(address);
    const implementation = targetOf(told[index]) ?? ZERO_ADDRESS;
    if (one != null) found.set(address, { ...one, proxy: kind, beacon, implementation });
  });
  return addresses.map((address) => found.get(address) ?? null);
}

function readCode(address: Hex, code: Hex): Suspect {
  const { delegates, canEnd } = readAbilities(code);
  const delegation = readDelegation(code);
  const forwarding = delegates && delegation === null ? readForwarding(code) : null;
  const clone = forwarding?.kind === 'implementation' && forwarding.place.from === 'code';
  const target = delegation ?? (clone ? addressIn(forwarding.place) : null);
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
  return { address, code, forwarding, found };
}

const addressIn = (place: Place): Hex | null => (place.from === 'code' ? place.address : null);

/** The slot of the implementation or beacon, if the code itself names one. */
function ownSlots({ forwarding }: Suspect): Hex[] {
  return forwarding?.place.from === 'slot' ? [forwarding.place.slot] : [];
}

/** The implementation or beacon to which the code itself points. `word` is the content of its own slot. */
function ownTarget({ forwarding }: Suspect, word: Hex | null | undefined): Hex | null {
  if (forwarding === null) return null;
  return forwarding.place.from === 'code'
    ? forwarding.place.address
    : packedTarget(word, forwarding.place.shift);
}

function kindOfSlot({ code, forwarding }: Suspect): ProxyKind {
  const first = forwarding?.place.from === 'slot' && BigInt(forwarding.place.slot) === 0n;
  return first && (code.includes(MASTER_COPY_SELECTOR.slice(2)) || OLD_SAFE.test(code))
    ? 'safe'
    : 'custom_slot';
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
