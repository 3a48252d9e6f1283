/**
 * A table whose rows come with growing versions, kept in memory: read once, then only what is newer, and that only when the table
 * says of itself that it is another one, for which it is asked anew after a moment. Rows with older versions are noticed by how many
 * there are: where they may come, it is to be renewed now and then, since as many may be merged away in the same moment.
 */
import { steadyNow } from '../domain/steadyTime';
import { isSameMark, type TableMark } from './tableMark';

export interface MirroredTable<Base, Row> {
  readMark(): Promise<TableMark>;
  /** All of it. */
  readBase(): Promise<Base>;
  /** Rows with a greater version; more than `limit` need not be told. */
  readNewer(version: number, limit: number): Promise<Row[]>;
}

export interface Mirrored<Base, Row> {
  readonly base: Base;
  /** What came later; it counts more than what the base says of the same thing. */
  readonly newer: readonly Row[];
}

export interface TableMirror<Base, Row> {
  /** What is stored, or was a moment ago. */
  read(): Promise<Mirrored<Base, Row>>;
  /** Whoever reads from now on has at least what is stored now. */
  forget(): void;
  /** Reads all of it again, for those who ask once that is done. */
  renew(): Promise<void>;
}

/** For so long a table is taken to be as it was: who asks many questions at once asks for one mark. */
const MARK_KEPT_MS = 100;
/** More rows than this beside the base: it is read again as a whole. */
const NEWER_MAX = 1_000;
/** A table that changes while it is read, over and over. */
const TRIES_MAX = 3;

interface Kept<Base> {
  readonly base: Base;
  readonly mark: TableMark;
  /** Its turn among all questions: what was stored before is in it. */
  readonly turn: number;
}

export interface MirrorOptions {
  /** Default: 100. */
  readonly markKeptMs?: number;
  readonly now?: () => number;
}

export function createTableMirror<Base, Row>(
  table: MirroredTable<Base, Row>,
  { markKeptMs = MARK_KEPT_MS, now = steadyNow }: MirrorOptions = {},
): TableMirror<Base, Row> {
  let kept: Kept<Base> | null = null;
  let newer: { readonly mark: TableMark; readonly of: Kept<Base>; readonly rows: Row[] } | null = null;
  let loading: Promise<Kept<Base>> | null = null;
  let turns = 0;
  let looked: { readonly at: number; readonly answer: Promise<Mirrored<Base, Row>> } | null = null;
  const load = async (): Promise<Kept<Base>> => {
    turns += 1;
    const turn = turns;
    // The mark first: what is written meanwhile makes the next one differ.
    const mark = await table.readMark();
    kept = { base: await table.readBase(), mark, turn };
    return kept;
  };
  const renew = (): Promise<Kept<Base>> => {
    loading ??= load().finally(() => (loading = null));
    return loading;
  };
  /** What is newer than the base, as of a mark; null: rows were written that are not, or rows were merged. */
  const readNewer = async (of: Kept<Base>, mark: TableMark): Promise<Row[] | null> => {
    if (isSameMark(of.mark, mark)) return [];
    if (newer?.of === of && isSameMark(newer.mark, mark)) return newer.rows;
    if (mark.rows - of.mark.rows > NEWER_MAX) return null;
    const rows = await table.readNewer(of.mark.newestVersion, NEWER_MAX + 1);
    // Newer rows that came meanwhile must not stand for older ones that are missing.
    if (of.mark.rows + rows.length !== mark.rows || !isSameMark(await table.readMark(), mark)) return null;
    newer = { mark, of, rows };
    return rows;
  };
  const look = async (): Promise<Mirrored<Base, Row>> => {
    turns += 1;
    const asked = turns;
    let of = kept ?? (await renew());
    for (let tries = 0; of.turn < asked && tries < TRIES_MAX; tries += 1) {
      const rows = await readNewer(of, await table.readMark());
      if (rows !== null) return { base: of.base, newer: rows };
      of = await renew();
    }
    // What was read since they asked is new enough.
    return { base: of.base, newer: [] };
  };
  const forget = (): void => void (looked = null);
  return {
    read() {
      const asked = now();
      if (looked !== null && asked - looked.at < markKeptMs) return looked.answer;
      const answer = look();
      looked = { at: asked, answer };
      // A failure is for those who wait for it.
      answer.catch(forget);
      return answer;
    },
    forget,
    async renew() {
      await renew();
      forget();
    },
  };
}
