/**
 * `npm run attack`: runs both attack suites in full. `--suite http` sends every hostile value in every parameter, and
 * malformed requests, slow clients, compression bombs, expressions, imports and statements. `npm run test:full` runs a part of
 * these attacks.
 *
 * `--suite prices`, or any of `--markets 5000 --seed 1 --tries 60 --aims 2`: attacks random markets and compares the
 * attacker's loss in the cheapest attack with the cost that the API publishes for moving the price. Prints the attacks
 * with the smallest ratio of loss to published cost.
 *
 * Exits 1 if a test fails, or if an attack costs less than half of the published cost.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

import { findPackageRoot } from '../src/clickhouse/client/packageRoot';
import { attackMarket, isTrustedMarket } from '../test/support/attacker/attackMarket';
import { RATIO_MIN, type Closest } from '../test/support/attacker/searchAttack';
import { percentile } from './bench/figure';
import { readOptions, type Options } from './options';

const USAGE =
  'Usage: npm run attack -- [--suite http|prices|all] [--markets N] [--seed N] [--tries N] [--aims N]';
const PRICE_OPTIONS = ['markets', 'seed', 'tries', 'aims'] as const;
/**
 * Test files of the suite `http`. With ATTACK_SIZE=full they try all attacks. Some of these files only test the limits
 * that stop attacks.
 */
const HTTP_TESTS = [
  'test/full/hostile',
  'test/full/engine/serverRights.test.ts',
  'test/full/contracts/search.test.ts',
  'test/unit/api',
  'test/full/e2e/attack.test.ts',
];
const TELL_EVERY_MS = 10_000;
const CLOSEST_SHOWN = 10;

const say = (text: string): void => void process.stdout.write(`${text}\n`);

interface Case extends Closest {
  readonly seed: number;
  readonly label: string;
  readonly isTrusted: boolean;
}

const describe = ({ seed, label, aim, ratio, result, published, plan }: Case): string =>
  `seed ${seed} (${label}) ${aim.isUp ? 'up' : 'down'} ${aim.part}: ratio ${ratio.toFixed(2)}, ` +
  `loss ${result.loss.toPrecision(3)} USD, published ${published.toPrecision(3)} USD, ` +
  `${plan.prepBlocks + 1} blocks, moves ${[...plan.moves, ...plan.afterPush].map(({ kind }) => kind).join(' ') || 'push only'}`;

function main(): void {
  const options = readOptions(USAGE, ['suite', ...PRICE_OPTIONS]);
  const givesMarkets = PRICE_OPTIONS.some((name) => options.text(name, '') !== '');
  const suite = options.text('suite', givesMarkets ? 'prices' : 'all');
  if (!['http', 'prices', 'all'].includes(suite)) {
    throw new Error(`--suite: got ${suite}; allowed: http, prices or all`);
  }
  if (suite !== 'prices' && !attackService()) process.exitCode = 1;
  if (suite !== 'http') attackPrices(options);
}

/** Runs the tests with all attacks. Returns whether they passed. */
function attackService(): boolean {
  const root = findPackageRoot();
  const jest = join(root, 'node_modules', 'jest', 'bin', 'jest.js');
  const env = { ...process.env, ATTACK_SIZE: 'full', PROPERTY_SHARE: '1' };
  const { status } = spawnSync(process.execPath, [jest, '-w', '1', ...HTTP_TESTS], {
    cwd: root,
    stdio: 'inherit',
    env,
  });
  return status === 0;
}

function attackPrices(options: Options): void {
  const markets = options.number('markets', 5_000);
  const firstSeed = options.number('seed', 1);
  const tries = options.number('tries', 60);
  const aimsPerMarket = options.number('aims', 2);
  const cases: Case[] = [];
  let wasStopped = false;
  let [attackedMarkets, attacks, trustedMarkets] = [0, 0, 0];
  process.on('SIGINT', () => (wasStopped = true));
  let toldAt = performance.now();
  // One market per turn of the event loop, so that SIGINT is handled in between.
  const attackNext = (): void => {
    if (attackedMarkets < markets && !wasStopped) {
      const seed = firstSeed + attackedMarkets;
      const market = attackMarket(seed, tries, aimsPerMarket);
      attacks += market.attacks;
      if (isTrustedMarket(market)) trustedMarkets += 1;
      cases.push(
        ...market.closest.map((attack) => ({
          ...attack,
          seed,
          label: market.label,
          isTrusted: isTrustedMarket(market),
        })),
      );
      attackedMarkets += 1;
      if (performance.now() - toldAt > TELL_EVERY_MS) {
        toldAt = performance.now();
        const belowMin = cases.filter(isBelow).length;
        say(
          `${attackedMarkets} of ${markets} markets, ${attacks} attacks, ${belowMin} cases below ${RATIO_MIN}`,
        );
      }
      setImmediate(attackNext);
      return;
    }
    report(
      cases,
      `${attackedMarkets} markets from seed ${firstSeed}, ${trustedMarkets} with a trusted price, ${attacks} attacks`,
    );
  };
  attackNext();
}

/**
 * Whether an attack on a trusted price costs less than the required part of the published cost. No cost is promised for
 * an untrusted price, because a trusted route may replace it at any time.
 */
function isBelow({ ratio, isTrusted }: Case): boolean {
  return isTrusted && !(ratio >= RATIO_MIN);
}

function report(cases: Case[], description: string): void {
  // Compares equal ratios without subtraction, because the difference of two infinite ratios is NaN.
  cases.sort((a, b) => (a.ratio === b.ratio ? a.seed - b.seed : a.ratio < b.ratio ? -1 : 1));
  say(`${description}. Closest cases:`);
  for (const closestCase of cases.slice(0, CLOSEST_SHOWN)) say(describe(closestCase));
  for (const part of ['p2', 'p10', 'p50'] as const) {
    const ratios = cases.flatMap(({ aim, ratio, isTrusted }) =>
      isTrusted && aim.part === part ? [ratio] : [],
    );
    if (ratios.length === 0) continue;
    const [low, median, high] = [5, 50, 95].map((percent) => percentile(ratios, percent).toFixed(2));
    say(
      `loss / published of trusted prices for ${part}: 5 % below ${low}, median ${median}, 5 % above ${high}`,
    );
  }
  const belowMin = cases.filter(isBelow).length;
  say(
    belowMin === 0
      ? 'No attack on a trusted price costs less than half of the published cost.'
      : `${belowMin} cases below half.`,
  );
  const untrustedBelowMin = cases.filter(
    ({ ratio, isTrusted }) => !isTrusted && !(ratio >= RATIO_MIN),
  ).length;
  if (untrustedBelowMin > 0)
    say(`${untrustedBelowMin} cases below half of tokens whose price was not trusted before.`);
  if (belowMin > 0) process.exitCode = 1;
}

main();
