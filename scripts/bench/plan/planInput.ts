/** The options of `npm run bench -- plan`: what an operator knows about chains, readers and machines. */
import { parseArgs } from 'node:util';

const DEFAULTS = {
  swaps: 1e10,
  chains: 20,
  'largest-share': 0.3,
  days: 1_000,
  peak: 10,
  pairs: 100_000,
  'block-seconds': 10,
  'logs-per-swap': 4,
  readers: 500,
  'reads-per-minute': 30,
  'cached-share': 0.5,
  /** One for each reader. */
  streams: NaN,
  replicas: 2,
  cores: 16,
  'memory-gb': 64,
  'disk-tb': 4,
  fill: 0.7,
};

export type PlanInput = Readonly<typeof DEFAULTS>;
type Name = keyof PlanInput;

interface Option {
  readonly min: number;
  readonly max: number;
  readonly kind: 'a whole number' | 'a number';
  readonly meaning: string;
}

const wholeNumber = (min: number, max: number, meaning: string): Option => ({
  min,
  max,
  kind: 'a whole number',
  meaning,
});
const anyNumber = (min: number, max: number, meaning: string): Option => ({
  min,
  max,
  kind: 'a number',
  meaning,
});

const OPTIONS: Readonly<Record<Name, Option>> = {
  swaps: wholeNumber(1, 1e14, 'stored swaps of all chains'),
  chains: wholeNumber(1, 10_000, 'number of chains'),
  'largest-share': anyNumber(
    0,
    1,
    'part of all swaps, readers and streams that belongs to the largest chain',
  ),
  days: wholeNumber(1, 10_000, 'days in which the swaps happened'),
  peak: anyNumber(1, 1_000, 'swaps per second at the busiest time, divided by the mean'),
  pairs: wholeNumber(1, 1e9, 'pairs of each chain'),
  'block-seconds': anyNumber(0.1, 3_600, 'time between two blocks, in seconds'),
  'logs-per-swap': anyNumber(1, 1_000, 'logs of a chain, divided by its swaps'),
  readers: wholeNumber(1, 1e8, 'people who use the page at the same time'),
  'reads-per-minute': anyNumber(0, 600, 'requests of one reader per minute'),
  'cached-share': anyNumber(0, 1, 'part of the requests that the API answers from its cache'),
  streams: wholeNumber(0, 1e9, 'open streams; without this option, one for each reader'),
  replicas: wholeNumber(1, 10, 'copies of each row, and the smallest number of API processes of a chain'),
  cores: wholeNumber(1, 1_024, 'processor cores of one database machine'),
  'memory-gb': anyNumber(1, 65_536, 'memory of one database machine, in GB'),
  'disk-tb': anyNumber(0.01, 10_000, 'disk of one database machine, in TB'),
  fill: anyNumber(0.05, 1, 'part of a disk, a core or a block time that the plan uses'),
};

const isName = (name: string): name is Name => Object.hasOwn(OPTIONS, name);
const NAMES: readonly Name[] = Object.keys(OPTIONS).filter(isName);

/** The help text: each option with its meaning and default. */
export function planUsage(): string {
  const lines = NAMES.map((name) => {
    const { meaning } = OPTIONS[name];
    const defaultValue = DEFAULTS[name];
    return `  --${name.padEnd(17)} ${meaning}${Number.isNaN(defaultValue) ? '' : ` (default ${defaultValue})`}`;
  });
  return `Usage: npm run bench -- plan [--option number ...]\n${lines.join('\n')}`;
}

/** Parses the options. Throws a RangeError that names the option, the given value and the allowed values. */
export function parsePlanInput(args: readonly string[]): PlanInput {
  const options = Object.fromEntries(NAMES.map((name) => [name, { type: 'string' as const }]));
  const { tokens } = parseArgs({ args: [...args], options, strict: false, tokens: true });
  const input = { ...DEFAULTS };
  const givenNames = new Set<Name>();
  for (const token of tokens) {
    if (token.kind !== 'option' || !isName(token.name)) {
      const shownToken =
        token.kind === 'option' ? token.rawName : token.kind === 'positional' ? token.value : '--';
      throw new RangeError(
        `plan: got ${shownToken}; allowed: ${NAMES.map((name) => `--${name}`).join(', ')}`,
      );
    }
    if (givenNames.has(token.name)) throw new RangeError(`--${token.name}: given twice; allowed: once`);
    givenNames.add(token.name);
    input[token.name] = parseValue(token.name, token.value);
  }
  if (Number.isNaN(input.streams)) input.streams = input.readers;
  // With few chains, the largest chain has at least an equal part.
  input['largest-share'] = Math.max(input['largest-share'], 1 / input.chains);
  return input;
}

function parseValue(name: Name, text: string | undefined): number {
  const { min, max, kind } = OPTIONS[name];
  const value = text !== undefined && /^(\d+\.?\d*|\.\d+)(e\+?\d+)?$/i.test(text) ? Number(text) : NaN;
  const isRight = value >= min && value <= max && (kind === 'a number' || Number.isInteger(value));
  if (isRight) return value;
  throw new RangeError(
    `--${name}: got ${text ?? 'no value'}; allowed: ${kind} from ${min} to ${max}, such as 1000 or 1e3`,
  );
}
