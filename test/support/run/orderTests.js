/**
 * The order of the test files: the longest first, by the seconds recorded in durations.json. A test with a browser needs
 * both cores for a minute, and three of them at once take five times as long as one after another. So they are spread
 * evenly among the others. Tests with clients are spread too: the first one installs the clients, and the others would
 * wait for it. `--shard=2/4` divides the files into parts of equal duration.
 */
const { relative } = require('node:path');

const recorded = require('./durations.json');

const SPREAD = /\/test\/(smoke|full\/e2e\/page|full\/clients)/;
/** Seconds of a file without a record. */
const UNKNOWN_SECONDS = 10;

const secondsOf = ({ path, context }) =>
  recorded[relative(context.config.rootDir, path).replaceAll('\\', '/')] ?? UNKNOWN_SECONDS;
const byDuration = (tests) =>
  [...tests].sort((a, b) => secondsOf(b) - secondsOf(a) || (a.path < b.path ? -1 : 1));

module.exports = class OrderTests {
  sort(tests) {
    const sorted = byDuration(tests);
    const spread = sorted.filter(({ path }) => SPREAD.test(path));
    const otherTests = sorted.filter(({ path }) => !SPREAD.test(path));
    // The last tenth of the files is short. A browser that starts there would be the last to end.
    const step = (otherTests.length * 0.9) / Math.max(1, spread.length);
    return [
      ...spread.flatMap((test, index) => [
        test,
        ...otherTests.slice(Math.round(index * step), Math.round((index + 1) * step)),
      ]),
      ...otherTests.slice(spread.length === 0 ? 0 : Math.round(spread.length * step)),
    ];
  }

  shard(tests, { shardIndex, shardCount }) {
    const shards = Array.from({ length: shardCount }, () => ({ seconds: 0, tests: [] }));
    for (const test of byDuration(tests)) {
      const part = shards.reduce((least, shard) => (shard.seconds < least.seconds ? shard : least));
      part.seconds += secondsOf(test);
      part.tests.push(test);
    }
    return shards[shardIndex - 1].tests;
  }

  allFailedTests(tests) {
    return tests;
  }

  cacheResults() {}
};
