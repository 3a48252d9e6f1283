/**
 * The metadata of all stored tokens, as far as the ingester needs it: decimals by block, and which tokens are asked
 * again. A token may get its metadata after its first pool, for example when a proxy is initialised or upgraded. The
 * corrected decimals hold from the next block on. For earlier blocks the earlier value stays, so that a block that is
 * read again gets the same prices.
 */
import type { PoolRow, TokenRow } from '../../clickhouse/schema/tables';
import type { ChainBlock } from '../../domain/block';
import type { Hex } from '../../domain/hex';

/** First and longest pause before an incomplete token is asked again, in blocks. Each pause is twice the last. */
const PAUSE_MIN_BLOCKS = 8;
const PAUSE_MAX_BLOCKS = 2 ** 17;
/** Largest number of incomplete tokens that are asked again after pauses. Further tokens wait for an event. */
const INCOMPLETE_MAX = 50_000;
/** Largest number of tokens that wait because of an event. */
const HINTED_MAX = 10_000;
/** Decimals of 0 without symbol and name are believed if they are read again this many blocks later. */
const ZERO_BLOCKS = 1_024;
/** topic0 of Initialized(uint8), Initialized(uint64), Upgraded(address) and BeaconUpgraded(address). */
export const RENEWAL_TOPICS: ReadonlySet<Hex> = new Set<Hex>([
  '0x7f26b83ff96e1f2b6a682f133852f6798a09c465da95921460cefb3847402498',
  '0xc7f505b2f371ae2175ee4913f4499e1f2633a7b5936321eed1cdaeb6115181d2',
  '0xbc7cd75a20ee27fd9adebab32041f755214dbc6bffa90cc0225b39da2e5c2d3b',
  '0x1cf3b03a6cf19fa2baba4df148e9dcabedea7f8a5c07840e207e5c089be95d3e',
]);

/** The stored metadata of a token. */
export interface StoredToken extends TokenRow {
  /** Whether symbol, name and decimals are all known. The texts of such a token may be left out (null). */
  readonly complete: boolean;
}

interface Entry extends StoredToken {
  readonly at: TokenVersion;
  /** The values may come from a block that a reorg removed, so a later reading replaces them. */
  readonly unsure: boolean;
  /** A reorg removed the first reading, so the token is read like a new one when it appears again. */
  readonly removed: boolean;
}

interface Waiting {
  due: number;
  blocks: number;
  isTraded: boolean;
  isRequested: boolean;
  /** First block at which decimals of 0 without symbol and name were read. */
  zeroSince: number | null;
}

export class TokenBook {
  /** Decimals of complete tokens with one row, and entries of all others. */
  private readonly known = new Map<Hex, number | Entry>();
  private readonly incomplete = new Map<Hex, Waiting>();
  private readonly hinted = new Set<Hex>();
  /** Readings that a reorg may still remove: block of the newest one, and the entry from before the first one. */
  private readonly recent = new Map<Hex, { block: number; readonly before: number | Entry | undefined }>();
  private block = 0;

  has(token: Hex): boolean {
    const entry = this.known.get(token);
    return entry !== undefined && (typeof entry === 'number' || !entry.removed);
  }

  /** Sets the block for which `decimalsOf` answers. */
  moveTo(block: number): void {
    this.block = block;
  }

  /** Decimals of a token in the current block; null if they are unknown. */
  decimalsOf(token: Hex): number | null {
    const entry = this.known.get(token) ?? null;
    if (entry === null || typeof entry === 'number') return entry;
    return entry.at.seq === 0 || this.block > entry.at.block ? entry.decimals : entry.at.before;
  }

  /**
   * Loads the stored rows. Rows from after block `finalTo` are read again, because a reorg may have removed it. `pools`:
   * the pools up to `finalTo`. A later row of a token that is in none of them may come from after its first reading, so
   * such a token is read like a new one.
   */
  load(rows: readonly StoredToken[], finalTo: number, pools: readonly PoolRow[]): void {
    const inPools = new Set(pools.flatMap(({ token0, token1, tokens }) => [token0, token1, ...tokens]));
    for (const map of [this.known, this.incomplete, this.hinted, this.recent]) map.clear();
    for (const row of rows) {
      const tokenVersion = fromVersion(row.version);
      const unsure = tokenVersion.block > finalTo;
      const removed = unsure && (tokenVersion.seq === 0 || !inPools.has(row.address));
      const isPlain = row.complete && tokenVersion.seq === 0 && !unsure;
      this.known.set(
        row.address,
        isPlain && row.decimals !== null ? row.decimals : { ...row, at: tokenVersion, unsure, removed },
      );
      // A removed token is not asked, because its contract may not exist yet.
      if (removed) continue;
      this.watch(row.address, row.complete, finalTo, null);
      if (unsure) this.hint(row.address);
    }
  }

  /** Returns the row for the first reading of a token. It holds for all blocks. */
  addFirst(read: TokenRow, block: number, reversible: boolean): TokenRow {
    const isZero = isBlankZero(read);
    const decimals = isZero ? null : read.decimals;
    const stored = this.known.get(read.address);
    const seq = typeof stored === 'object' ? Math.min(SEQ_MAX, stored.at.seq + 1) : 0;
    const tokenVersion = { seq, block, before: decimals, changed: false };
    return this.set({ ...read, decimals }, tokenVersion, reversible, isZero ? block : null);
  }

  /**
   * Takes a later reading of a known token, which holds from the next block on. Returns the row to store, or null if
   * nothing new was learnt. A known value is not replaced by null. Decimals that change from one number to another are
   * unknown from then on, because prices in two units must not be mixed.
   */
  addLater(read: TokenRow, block: number, reversible: boolean): TokenRow | null {
    const { address } = read;
    const stored = this.known.get(address);
    if (stored === undefined) return null;
    const entry = typeof stored === 'number' ? null : stored;
    const decimalsBefore = typeof stored === 'number' ? stored : stored.decimals;
    const seq = entry?.at.seq ?? 0;
    const zeroSince = isBlankZero(read) ? (this.incomplete.get(address)?.zeroSince ?? block) : null;
    const isBelieved = zeroSince === null || block - zeroSince >= ZERO_BLOCKS;
    const learnt = learn({ ...read, decimals: isBelieved ? read.decimals : null }, stored);
    if (learnt === null || seq >= SEQ_MAX) {
      const waiting = this.incomplete.get(address);
      if (waiting !== undefined) waiting.zeroSince = zeroSince;
      return null;
    }
    const at = { seq: seq + 1, block, before: decimalsBefore, changed: learnt.changed };
    return this.set({ ...read, ...learnt }, at, reversible, zeroSince);
  }

  /** Notes events after which a token may have other metadata. */
  noteEvents({ logs }: ChainBlock): void {
    for (const { address, topics } of logs) {
      const [topic] = topics;
      if (topic !== undefined && RENEWAL_TOPICS.has(topic) && this.known.has(address)) this.hint(address);
    }
  }

  /** Notes a trade. The first trade of an incomplete token is a reason to ask again. */
  noteTrade(token: Hex): void {
    const waiting = this.incomplete.get(token);
    if (waiting === undefined || waiting.isTraded) return;
    waiting.isTraded = true;
    this.hint(token);
  }

  /** Notes a request of a client. The first request for an incomplete token is a reason to ask again. */
  noteRequest(token: Hex): void {
    const waiting = this.incomplete.get(token);
    if (waiting === undefined || waiting.isRequested) return;
    waiting.isRequested = true;
    this.hint(token);
  }

  /** Takes at most `max` tokens that should be asked again at this block. */
  takeDue(block: number, max: number): Hex[] {
    const dueTokens = new Set([...this.hinted].slice(0, max));
    for (const token of dueTokens) this.hinted.delete(token);
    for (const [token, waiting] of this.incomplete) {
      if (dueTokens.size === max) break;
      if (waiting.due <= block) dueTokens.add(token);
    }
    for (const token of dueTokens) {
      const waiting = this.incomplete.get(token);
      if (waiting === undefined) continue;
      waiting.due = block + waiting.blocks;
      waiting.blocks = Math.min(PAUSE_MAX_BLOCKS, waiting.blocks * 2);
      // Tokens that were just asked go to the end, so that each token gets its turn.
      this.incomplete.delete(token);
      this.incomplete.set(token, waiting);
    }
    return [...dueTokens].filter((token) => this.has(token));
  }

  /** Notes that the reading of these tokens failed at this block. They are asked again after a pause. */
  putBack(tokens: readonly Hex[], block: number): void {
    for (const token of tokens) if (!this.incomplete.has(token)) this.watch(token, false, block, null);
  }

  /** Forgets what was read above this block. New tokens are read again when they appear, others soon. */
  rewindTo(number: number): void {
    for (const [address, { block, before }] of this.recent) {
      if (block <= number) continue;
      this.recent.delete(address);
      const newest = this.known.get(address);
      const value = before ?? newest;
      if (newest === undefined || value === undefined) continue;
      const seq = typeof newest === 'number' ? 0 : newest.at.seq;
      const row =
        typeof value === 'number'
          ? { address, symbol: null, name: null, decimals: value, version: 0, complete: true }
          : value;
      const removed = before === undefined || (typeof before === 'object' && before.removed);
      const at = { seq, block: number, before: row.decimals, changed: false };
      this.known.set(address, { ...row, at, unsure: true, removed });
      if (removed) continue;
      this.watch(address, row.complete, number, null);
      this.hint(address);
    }
  }

  finalise(number: number): void {
    for (const [token, { block }] of this.recent) if (block <= number) this.recent.delete(token);
  }

  private set(row: TokenRow, at: TokenVersion, reversible: boolean, zeroSince: number | null): TokenRow {
    const { address, symbol, name, decimals } = row;
    const recent = this.recent.get(address);
    if (recent !== undefined) recent.block = at.block;
    else if (reversible) this.recent.set(address, { block: at.block, before: this.known.get(address) });
    const complete = symbol !== null && name !== null && (decimals !== null || at.changed);
    const stored = { address, symbol, name, decimals, version: toVersion(at) };
    const isPlain = complete && at.seq === 0 && decimals !== null;
    this.known.set(address, isPlain ? decimals : { ...stored, complete, at, unsure: false, removed: false });
    this.watch(address, complete, at.block, zeroSince);
    return stored;
  }

  private watch(token: Hex, complete: boolean, block: number, zeroSince: number | null): void {
    const waiting = this.incomplete.get(token);
    if (complete) this.incomplete.delete(token);
    else if (waiting !== undefined) waiting.zeroSince = zeroSince;
    else if (this.incomplete.size < INCOMPLETE_MAX)
      this.incomplete.set(token, {
        due: block + PAUSE_MIN_BLOCKS,
        blocks: 2 * PAUSE_MIN_BLOCKS,
        isTraded: false,
        isRequested: false,
        zeroSince,
      });
  }

  private hint(token: Hex): void {
    if (this.hinted.size < HINTED_MAX) this.hinted.add(token);
  }
}

/** Decimals of 0 without symbol and name: the answers of a proxy that is not initialised yet. */
function isBlankZero({ symbol, name, decimals }: TokenRow): boolean {
  return decimals === 0 && symbol === null && name === null;
}

type Learnt = Pick<TokenRow, 'symbol' | 'name' | 'decimals'> & { readonly changed: boolean };

/** Joins a later reading with what is known. Null if nothing new was learnt. */
function learn(read: TokenRow, old: number | Entry): Learnt | null {
  if (typeof old === 'object' && old.unsure)
    return { ...texts(read, null), decimals: read.decimals, changed: false };
  const [had, wasChanged] = typeof old === 'number' ? [old, false] : [old.decimals, old.at.changed];
  const hasChanged = wasChanged || (read.decimals !== null && had !== null && read.decimals !== had);
  const decimals = hasChanged ? null : (read.decimals ?? had);
  const { symbol, name } = texts(read, typeof old === 'number' ? null : old);
  // The texts of a complete token are not in memory, so only a row with both texts can replace its row.
  if (typeof old === 'number' || old.complete)
    return symbol === null || name === null ? null : { symbol, name, decimals, changed: hasChanged };
  const isSame = decimals === had && symbol === old.symbol && name === old.name && hasChanged === wasChanged;
  return isSame ? null : { symbol, name, decimals, changed: hasChanged };
}

function texts(read: TokenRow, old: Entry | null): Pick<TokenRow, 'symbol' | 'name'> {
  return { symbol: read.symbol ?? old?.symbol ?? null, name: read.name ?? old?.name ?? null };
}

/**
 * The version of a stored token row. The first reading of a token has the number of its block. Later rows count up, so
 * that they win over every earlier row, also if a reorg removed the block of the earlier one. Such a version also holds
 * the decimals that were valid before, because ClickHouse deletes the earlier row.
 */
const [BLOCKS, DECIMALS, UNKNOWN] = [2 ** 32, 128, 127];
/** Largest number of later rows of one token. The version stays an integer that JavaScript holds exactly. */
const SEQ_MAX = 2 ** 13 - 1;

interface TokenVersion {
  /** Number of the row among the rows of its token. */
  readonly seq: number;
  /** Block at whose end the metadata was read. */
  readonly block: number;
  /** Decimals in the blocks up to `block`. The first row holds for all blocks. */
  readonly before: number | null;
  /** Whether the decimals changed from one number to another, so that they are unknown for ever. */
  readonly changed: boolean;
}

export function toVersion({ seq, block, before, changed }: TokenVersion): number {
  if (seq === 0) return block;
  return ((seq * DECIMALS + (before ?? UNKNOWN)) * 2 + (changed ? 1 : 0)) * BLOCKS + block;
}

export function fromVersion(version: number): TokenVersion {
  const block = version % BLOCKS;
  const flags = Math.floor(version / BLOCKS);
  const changed = flags % 2 === 1;
  const word = Math.floor(flags / 2);
  const before = word % DECIMALS;
  return { seq: Math.floor(word / DECIMALS), block, before: before === UNKNOWN ? null : before, changed };
}
