/**
 * Stores at which level of proof each block was stored. The ledger never claims more than is true, even after a crash:
 * a lower level is stored before the blocks, and a higher level for blocks that exist already after them.
 */
import type { Database } from '../../clickhouse/client/database';
import { selectNamed } from '../../clickhouse/client/namedQueries';
import { insertRows } from '../../clickhouse/rows/inserter';
import { proofRangesTable } from '../../clickhouse/schema/tables';
import type { ProofLevel } from '../../domain/block';
import type { Hex } from '../../domain/hex';
import {
  cutRanges,
  isWeaker,
  LAST_BLOCK,
  paintRange,
  PROOF_ROWS_MAX,
  proofRowShape,
  toProofRanges,
  type ProofRange,
} from '../../clickhouse/schema/proofRanges';
import { proofOf } from '../rows/rowBatch';
import type { StoredFlip, StoredState } from './store';
import type { WriterClaim } from './writerClaim';

/** The ranges of levels to write to the database before the blocks are stored, and those to write afterwards. */
interface Plan {
  readonly before: readonly ProofRange[];
  readonly after: readonly ProofRange[];
}

export class ProofLedger {
  private ranges: readonly ProofRange[] = [];
  private version = 0;
  /** Number of the newest stored block. */
  private top = 0;
  /**
   * Whether this session has stored a range. Its first range is stored even if it changes nothing, because it
   * overrides a row that an earlier session may have written late.
   */
  private isAnnounced = false;
  /** Levels of blocks in the head tables, also of blocks that are not canonical, by hash. */
  private readonly heads = new Map<Hex, { readonly number: number; readonly level: ProofLevel }>();

  constructor(
    private readonly database: Database,
    private readonly chainId: number,
    private readonly writer: WriterClaim | null = null,
  ) {}

  /** Starts a session. All its versions are larger than `floor`. */
  begin(floor: number): void {
    this.version = Math.max(this.version, floor);
    this.isAnnounced = false;
  }

  /** Loads the stored ranges. */
  async load({ head, headMax }: Pick<StoredState, 'head' | 'headMax'>): Promise<void> {
    await this.read();
    this.top = headMax;
    for (const { number, hash } of head)
      if (!this.heads.has(hash)) this.heads.set(hash, { number, level: this.levelAt(number) });
  }

  /** Runs `write`, which stores these new final blocks. Stores their levels of proof before or after it. */
  async storeRange<T>(ranges: readonly ProofRange[], write: () => Promise<T>): Promise<T> {
    const last = ranges.at(-1)?.to ?? 0;
    const done = await this.wrap(this.planFor(ranges), write);
    this.isAnnounced = true;
    this.top = Math.max(this.top, last);
    this.forgetBelow(last);
    return done;
  }

  /** Runs `write`, which changes the head. Stores the levels of the new canonical blocks before or after it. */
  async storeHead({ fresh, canonical, voided }: StoredFlip, write: () => Promise<void>): Promise<void> {
    for (const { rows } of fresh) {
      const { from: number, level } = proofOf(rows);
      this.heads.set(rows.ref.hash, { number, level });
    }
    // The rows of a stored block stay as they are, and so does its level, whatever its newest read has proven. A
    // block that an earlier process stored, and that was not canonical at the start, counts as `bloom`.
    const ranges = canonical.reduce<ProofRange[]>(
      (all, { number, hash }) =>
        paintRange(all, { from: number, to: number, level: this.heads.get(hash)?.level ?? 'bloom' }),
      [],
    );
    await this.wrap(this.planFor(ranges), write);
    this.isAnnounced ||= ranges.length > 0;
    this.top = canonical.at(-1)?.number ?? Math.min(...voided, this.top + 1) - 1;
  }

  /**
   * Runs `write`, which stores some rows of these blocks again. The other rows come from an earlier read, so the weaker
   * of the two levels holds.
   */
  async storeAgain<T>(ranges: readonly ProofRange[], write: () => Promise<T>): Promise<T> {
    await this.read();
    const before = ranges.flatMap(({ from, to, level }) =>
      this.cut(from, to)
        .filter((stored) => isWeaker(level, stored.level))
        .map((stored) => ({ ...stored, level })),
    );
    return this.wrap({ before, after: [] }, write);
  }

  /**
   * Runs `write`, after which all rows of these blocks equal the rows of a new read. If they were equal before
   * (`isEqual`), the stronger level holds.
   */
  async replace<T>(ranges: readonly ProofRange[], isEqual: boolean, write: () => Promise<T>): Promise<T> {
    await this.read();
    const differing = ranges.flatMap(({ from, to, level }) =>
      this.cut(from, to)
        .filter((stored) => stored.level !== level)
        .map((stored) => ({ ...stored, level, falls: isWeaker(level, stored.level) })),
    );
    const falling = isEqual ? [] : differing.filter(({ falls }) => falls);
    return this.wrap({ before: falling, after: differing.filter(({ falls }) => !falls) }, write);
  }

  /** Forgets the levels of head blocks up to `number`, because they are final. */
  forgetBelow(number: number): void {
    for (const [hash, block] of this.heads) if (block.number <= number) this.heads.delete(hash);
  }

  /** The last range also covers the blocks stored later, so that they need no row while the level stays the same. */
  private planFor(ranges: readonly ProofRange[]): Plan {
    const [before, after]: [ProofRange[], ProofRange[]] = [[], []];
    for (const [index, { from, to: own, level }] of ranges.entries()) {
      const to = index === ranges.length - 1 ? LAST_BLOCK : own;
      const stored = this.cut(from, to);
      const isSame = this.isAnnounced && stored.every((one) => one.level === level);
      if (isSame) continue;
      // No block of this range is stored yet, so its level may be stored before its blocks.
      if (from > this.top) {
        before.push({ from, to, level });
        continue;
      }
      const weakest = [level, ...stored.map((one) => one.level)].reduce((a, b) => (isWeaker(b, a) ? b : a));
      if (stored.some((one) => isWeaker(level, one.level))) before.push({ from, to, level: weakest });
      after.push({ from, to, level });
    }
    return { before, after };
  }

  private async wrap<T>({ before, after }: Plan, write: () => Promise<T>): Promise<T> {
    await this.write(before);
    const done = await write();
    await this.write(after);
    return done;
  }

  private async write(ranges: readonly ProofRange[]): Promise<void> {
    if (ranges.length === 0) return;
    const rows = ranges.map(({ from, to, level }) => {
      this.version += 1;
      return { chain_id: this.chainId, from_block: from, to_block: to, level, version: this.version };
    });
    this.writer?.note(this.version);
    const guard = this.writer?.guard(proofRangesTable.name, proofRangesTable.columns);
    await insertRows(this.database, proofRangesTable, rows, { guard });
    this.ranges = ranges.reduce<readonly ProofRange[]>(paintRange, this.ranges);
  }

  private async read(): Promise<void> {
    const params = { chain: this.chainId, limit: PROOF_ROWS_MAX };
    const rows = await selectNamed(this.database, 'head/list_proof_ranges', params, proofRowShape);
    this.version = rows.reduce((most, { version }) => Math.max(most, Number(version)), this.version);
    this.ranges = toProofRanges(rows);
  }

  private cut(from: number, to: number): ProofRange[] {
    return cutRanges(this.ranges, from, to);
  }

  private levelAt(number: number): ProofLevel {
    return this.cut(number, number)[0]?.level ?? 'bloom';
  }
}
