/**
 * The requests of a soak: every path of the OpenAPI document with its example, and the most frequent paths
 * with random parameters.
 */
import { z } from 'zod';

import { TIMEFRAMES } from '../../src/domain/timeframes';
import type { Random } from '../../test/support/random';

export interface Question {
  /** Name of the request in the figures: its path with the names of the parameters. */
  readonly name: string;
  readonly path: string;
}

interface Facts {
  readonly pairs: readonly string[];
  readonly tokens: readonly string[];
  readonly makers: readonly string[];
}

const documentShape = z.object({
  paths: z.record(
    z.string(),
    z.object({ get: z.object({ 'x-example-call': z.string().optional() }).optional() }),
  ),
});
const listShape = z.object({ data: z.array(z.object({ address: z.string() })) });
const activityShape = z.object({ data: z.array(z.object({ maker: z.string().nullable() })) });

/** A stream never ends, so follower clients read streams instead of the request loop. */
const STREAM = '/api/v1/activity/stream';
/**
 * Path of the Etherscan dialect. The paths in MOUNTS have the same handler. Their requests need parameters such as
 * `module`, which come from the example call of this path.
 */
const DIALECT = '/api';
const MOUNTS = ['/v2/api', '/api/v1', '/api/v1/etherscan'];
/** Share of the frequent paths in all requests. */
const FREQUENT_SHARE = 0.7;

export class Questions {
  /** Number of requested examples. */
  private askedExamples = 0;

  private constructor(
    private readonly facts: Facts,
    private readonly examples: readonly Question[],
    private readonly random: Random,
  ) {}

  static async read(url: string, random: Random): Promise<Questions> {
    const fetchJson = async (path: string): Promise<unknown> => (await fetch(`${url}${path}`)).json();
    const { paths } = documentShape.parse(await fetchJson('/openapi.json'));
    const pairs = listShape.parse(await fetchJson('/api/v1/pairs?limit=100')).data;
    const tokens = listShape.parse(await fetchJson('/api/v1/tokens?limit=100')).data;
    const events = activityShape.parse(await fetchJson('/api/v1/activity?limit=100')).data;
    const dialect = paths[DIALECT]?.get?.['x-example-call']?.slice(DIALECT.length) ?? '';
    const examples = Object.entries(paths).flatMap(([name, { get: operation }]) => {
      if (name === STREAM || operation === undefined) return [];
      const shownName = MOUNTS.includes(name) ? `${name}${dialect}` : name;
      const call = operation['x-example-call'] ?? (name.includes('{') ? undefined : shownName);
      return call === undefined ? [] : [{ name, path: call }];
    });
    const makers = [...new Set(events.flatMap(({ maker }) => maker ?? []))];
    const facts = {
      pairs: pairs.map(({ address }) => address),
      tokens: tokens.map(({ address }) => address),
      makers,
    };
    return new Questions(facts, examples, random);
  }

  /** All paths that the soak requests. */
  get names(): readonly string[] {
    return this.examples.map(({ name }) => name);
  }

  /** Whether each path was requested at least once. */
  get areAllAsked(): boolean {
    return this.askedExamples >= this.examples.length;
  }

  /** Returns the next request. `finalBlock` is the last block that no reorg replaces. */
  next(finalBlock: number): Question {
    const { random } = this;
    const example = this.examples[this.askedExamples % this.examples.length];
    if (example === undefined || random.chance(FREQUENT_SHARE)) return this.frequent(finalBlock);
    // The paths are requested in turn, so that a short run requests all of them.
    this.askedExamples += 1;
    return example;
  }

  private frequent(finalBlock: number): Question {
    const { random, facts } = this;
    const pair = random.pick(facts.pairs);
    const token = random.pick(facts.tokens);
    const limit = random.int(1, 100);
    const barOptions = `timeframe=${random.pick(TIMEFRAMES)}&limit=${random.int(1, 1_000)}&fill=${random.chance(0.3)}`;
    const sort = random.pick(['volume_24h_usd', 'liquidity_usd', 'tx_24h', 'price_change_24h', 'created_at']);
    const allQuestions: readonly Question[] = [
      {
        name: '/api/v1/pairs/{address}/ticks',
        path: `/api/v1/pairs/${pair}/ticks?${barOptions}&currency=${random.pick(['usd', 'quote'])}`,
      },
      {
        name: '/api/v1/tokens/{address}/ticks',
        path: `/api/v1/tokens/${token}/ticks?${barOptions}&currency=${random.pick(['usd', 'native'])}`,
      },
      {
        name: '/api/v1/pairs',
        path: `/api/v1/pairs?limit=${limit}&sort=${sort}&order=${random.pick(['asc', 'desc'])}`,
      },
      { name: '/api/v1/pairs/{address}', path: `/api/v1/pairs/${pair}` },
      { name: '/api/v1/tokens', path: `/api/v1/tokens?limit=${limit}&page=${random.int(1, 3)}` },
      { name: '/api/v1/tokens/{address}', path: `/api/v1/tokens/${token}` },
      {
        name: '/api/v1/tokens/{address}/audit',
        path: `/api/v1/tokens/${token}/audit?block=${random.int(2, Math.max(2, finalBlock))}`,
      },
      { name: '/api/v1/activity', path: `/api/v1/activity?limit=${limit}&pair=${pair}` },
      { name: '/api/v1/activity', path: `/api/v1/activity?limit=${limit}&event_type=swap&token=${token}` },
      {
        name: '/api/v1/portfolio/{address}',
        path: `/api/v1/portfolio/${random.pick([...facts.makers, pair])}`,
      },
      { name: '/api/v1/logs', path: `/api/v1/logs?address=${pair}&limit=${limit}` },
      {
        name: '/udf/history',
        path: `/udf/history?symbol=${pair}&resolution=5&countback=${random.int(1, 300)}`,
      },
    ];
    return random.pick(allQuestions);
  }
}
