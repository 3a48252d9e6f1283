/** Measures `/source-search` over many distinct source files, against `SELECT 1` in the same run. */
import { openDatabase } from '../../../src/clickhouse/client/database';
import { percentile, type Figure } from '../figure';
import type { ServedApi } from '../loaders/servedApi';
import { rareWord } from '../loaders/sourceLoader';

const REQUESTS = 300;
const WARM_UP = 30;
const LIMIT_MS = 100;

/**
 * Typical search texts. They are words that occur in every file, in many, few, one or no files, and expressions that
 * contain a word.
 */
const WORDS = [
  'transferFrom',
  'function',
  'onlyOwner',
  'uint256 amount',
  'SafeMath',
  '_beforeTokenTransfer',
  'keccak256(abi.encode',
  'getReserves',
  'nobody wrote this',
];
const EXPRESSIONS = ['function\\s+getReserves\\(', 'event\\s+OwnershipTransferred', 'rare_word_12\\d4\\b'];

/**
 * Each request has its own page or word, so no answer comes from a cache. Of each four requests, one looks for a rare
 * word, two for texts, and one for an expression.
 */
function createAsks(files: number, count: number): string[] {
  return Array.from({ length: count }, (_, index) => {
    const isExpression = index % 4 === 3;
    if (index % 4 === 0) return `q=${rareWord((index * 7_919) % files)}`;
    const words = isExpression ? EXPRESSIONS : WORDS;
    const searchText = encodeURIComponent(words[Math.floor(index / 4) % words.length] ?? '');
    return `q=${searchText}&mode=${isExpression ? 'regex' : 'text'}&limit=${10 + (index % 80)}&offset=${Math.floor(index / 16)}`;
  });
}

export async function measureSourceSearch(
  api: ServedApi,
  files: number,
  bytes: number,
  readerUrl: string,
): Promise<Figure[]> {
  const database = openDatabase({ url: readerUrl, maxConnections: 1 });
  const timesByMode = new Map<'text' | 'regex', number[]>([
    ['text', []],
    ['regex', []],
  ]);
  const floorTimesMs: number[] = [];
  for (const [index, ask] of createAsks(files, WARM_UP + REQUESTS).entries()) {
    let startedAt = performance.now();
    await database.select('bench', 'SELECT 1');
    if (index >= WARM_UP) floorTimesMs.push(performance.now() - startedAt);
    startedAt = performance.now();
    await api.drain(`/api/v1/source-search?${ask}`);
    const mode = ask.includes('mode=regex') ? 'regex' : 'text';
    if (index >= WARM_UP) timesByMode.get(mode)?.push(performance.now() - startedAt);
  }
  await database.close();
  const size = `${files} files of ${Math.round(bytes / 2 ** 20)} MiB`;
  return [...timesByMode].flatMap(([mode, times]) =>
    [50, 99].map((percent): Figure => {
      const value = percentile(times, percent);
      const limit = percentile(floorTimesMs, percent);
      return {
        name: `source-search by ${mode} over ${size}, p${percent}`,
        value,
        unit: 'ms',
        limitName: `SELECT 1, p${percent}`,
        limit,
        ratio: value / limit,
        target: `<= ${LIMIT_MS} ms`,
        ok: value <= LIMIT_MS,
      };
    }),
  );
}
