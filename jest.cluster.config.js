/**
 * The tests of API answers and of the store, run on two embedded engines that form the two shards of one
 * cluster. Every test that opens a database gets a database on both shards. Left out are tests of the
 * embedded server, and of commands for one server.
 */
const one = require('./jest.config.js');

module.exports = {
  ...one,
  testMatch: [
    '<rootDir>/test/integration/{api,sources}/**/*.test.ts',
    '<rootDir>/test/full/{api,sources}/*.test.ts',
    // The test streamReconnect is left out, because it breaks off hundreds of answers: the embedded engine
    // ends when a peer resets its connection.
    '<rootDir>/test/integration/stream/{activityStream,headState,tailLoop}.test.ts',
    '<rootDir>/test/full/stream/streamGaps.test.ts',
    '<rootDir>/test/integration/balanceChecker.test.ts',
    '<rootDir>/test/full/ingest/{rangeHash,transferTruth,verify}.test.ts',
    '<rootDir>/test/simulation/{kept,pipeline}.test.ts',
    '<rootDir>/test/full/simulation/differential.test.ts',
    '<rootDir>/test/full/e2e/{anvilBars,balances,explorer,priceTruth,stream,walletNode}.test.ts',
  ],
  globalSetup: '<rootDir>/test/support/run/clusterSetup.ts',
  globalTeardown: '<rootDir>/test/support/run/clusterTeardown.ts',
  moduleNameMapper: {
    ...one.moduleNameMapper,
    '^(?:\\.\\./)+(?:src/)?clickhouse/client/database$': '<rootDir>/test/support/run/clusteredDatabase.ts',
  },
};
