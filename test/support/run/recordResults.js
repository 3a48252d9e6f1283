/**
 * A Jest reporter that writes one entry for each test file into the file that TEST_RESULTS names: its seconds, the
 * numbers of its tests, and its first failure. scripts/runTests.mjs reads the file.
 */
const { writeFileSync } = require('node:fs');
const { relative } = require('node:path');

const FAILURE_CHARACTERS_MAX = 2_000;
// The colours of a terminal.
const COLOURS = new RegExp(`${String.fromCharCode(27)}\\[[0-9;]*m`, 'g');

/** @param {import('@jest/reporters').TestResult} result */
const firstFailure = ({ testExecError, failureMessage }) =>
  (failureMessage ?? testExecError?.message ?? '')
    .replace(COLOURS, '')
    .trim()
    .slice(0, FAILURE_CHARACTERS_MAX);

module.exports = class RecordResults {
  constructor({ rootDir }) {
    this.rootDir = rootDir;
  }

  onRunComplete(_contexts, { testResults }) {
    const path = process.env.TEST_RESULTS;
    if (path === undefined) return;
    const files = testResults.map((result) => ({
      file: relative(this.rootDir, result.testFilePath),
      seconds: Math.round(result.perfStats.runtime / 100) / 10,
      passed: result.numPassingTests,
      // A file that cannot be loaded has no tests, but it has failed.
      failed: result.numFailingTests + (result.testExecError && result.numFailingTests === 0 ? 1 : 0),
      skipped: result.numPendingTests + result.numTodoTests,
      failure: firstFailure(result),
    }));
    writeFileSync(path, JSON.stringify(files));
  }
};
