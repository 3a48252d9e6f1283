/** A Jest reporter that ends the run with the ten slowest files and one line: tests passed, failed and skipped. */
const { relative } = require('node:path');

const SLOWEST_MAX = 10;

module.exports = class ClosingLine {
  constructor({ rootDir }) {
    this.rootDir = rootDir;
  }

  onRunComplete(_contexts, results) {
    const { numPassedTests, numFailedTests, numPendingTests, numTodoTests, numRuntimeErrorTestSuites } =
      results;
    const failed = numFailedTests + numRuntimeErrorTestSuites;
    const files = results.testResults
      .map(({ testFilePath, perfStats }) => ({
        seconds: perfStats.runtime / 1_000,
        name: relative(this.rootDir, testFilePath),
      }))
      .sort((a, b) => b.seconds - a.seconds);
    const total = files.reduce((sum, { seconds }) => sum + seconds, 0);
    const rows = files
      .slice(0, SLOWEST_MAX)
      .map(({ seconds, name }) => `${seconds.toFixed(1).padStart(7)} s  ${name}`);
    process.stdout.write(
      `\nSlowest of ${files.length} test files (${total.toFixed(0)} s over all workers):\n${rows.join('\n')}\n` +
        `\n${numPassedTests} passed, ${failed} failed, ${numPendingTests + numTodoTests} skipped\n`,
    );
  }
};
