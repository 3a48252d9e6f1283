/**
 * The order of the test files. A test with a browser needs both cores for a minute, and three of them at once take five
 * times as long as one after another. So they are spread evenly among the other long tests; unit tests come last. Tests
 * with clients are spread too: the first one installs the clients, and the others would wait for it.
 */
const { statSync } = require('node:fs');

const SPREAD = /\/test\/(e2e\/page|clients\/)/;
const SHORT = /\/test\/(unit|docs|[a-z]+\.test\.ts)/;

const size = ({ path }) => statSync(path).size;

module.exports = class SpreadTests {
  sort(tests) {
    const bySize = [...tests].sort((a, b) => size(b) - size(a));
    const spread = bySize.filter(({ path }) => SPREAD.test(path));
    const short = bySize.filter(({ path }) => !SPREAD.test(path) && SHORT.test(path));
    const long = bySize.filter(({ path }) => !SPREAD.test(path) && !SHORT.test(path));
    const step = long.length / Math.max(1, spread.length);
    const mixed = spread.flatMap((test, index) => [
      test,
      ...long.slice(Math.round(index * step), Math.round((index + 1) * step)),
    ]);
    return [...(spread.length === 0 ? long : mixed), ...short];
  }

  allFailedTests(tests) {
    return tests;
  }

  cacheResults() {}

  shard(tests) {
    return tests;
  }
};
