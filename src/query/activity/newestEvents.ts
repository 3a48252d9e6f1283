/**
 * Keeps the newest events over all pools in memory, because clients request them most often. Queries them once for
 * each head version and set of event kinds.
 */
import type { QueryRunner } from '../../clickhouse/client/namedQueries';
import { listNewestEvents, type ActivityEvent, type ActivityFilter } from './activity';
import type { Directory } from '../tokens/directory';
import type { HeadSnapshot } from '../head/headSnapshot';
import { perVersion, type PerVersion } from '../head/perVersion';

/** Number of events in memory: the length of the longest first page, plus one event to detect a next page. */
const EVENTS_KEPT = 101;

type Page = Parameters<typeof listNewestEvents>[3];

export class NewestEvents {
  private readonly byKinds = new Map<string, PerVersion<readonly ActivityEvent[]>>();

  constructor(
    private readonly runner: QueryRunner,
    private readonly directory: Directory,
  ) {}

  async list(head: HeadSnapshot, filter: ActivityFilter, page: Page): Promise<readonly ActivityEvent[]> {
    const isFiltered = filter.pair !== null || filter.token !== null || filter.maker !== null;
    if (isFiltered || page.beforeOrd !== null || page.skip + page.limit > EVENTS_KEPT)
      return this.read(head, filter, page);
    const newest = await this.keptOf(filter).at(head);
    return newest.slice(page.skip, page.skip + page.limit);
  }

  private keptOf(filter: ActivityFilter): PerVersion<readonly ActivityEvent[]> {
    const key = [...new Set(filter.kinds)].sort().join();
    const firstPage = { beforeOrd: null, skip: 0, limit: EVENTS_KEPT };
    const keptEvents =
      this.byKinds.get(key) ?? perVersion({ read: (head) => this.read(head, filter, firstPage) });
    this.byKinds.set(key, keptEvents);
    return keptEvents;
  }

  private read(head: HeadSnapshot, filter: ActivityFilter, page: Page): Promise<readonly ActivityEvent[]> {
    return listNewestEvents(this.runner, head, filter, page, this.directory);
  }
}
