/**
 * `npm test` leaves out test/full (scripts/runTests.mjs); Jest alone finds all tests. Three workers run on two cores,
 * because tests also wait for the engine. A test file that needs the engine gets its own database on one shared server.
 */
const transform = {
  '^.+\\.ts$': [
    '@swc/jest',
    { jsc: { target: 'es2022', parser: { syntax: 'typescript' } }, module: { type: 'commonjs' } },
  ],
};

module.exports = {
  rootDir: __dirname,
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  transform,
  // Packages of test/full/clients, whose names also appear in the repository.
  modulePathIgnorePatterns: ['<rootDir>/.cache/'],
  moduleNameMapper: { '^fast-check$': '<rootDir>/test/support/run/seededFastCheck.js' },
  globalSetup: '<rootDir>/test/support/run/globalSetup.ts',
  globalTeardown: '<rootDir>/test/support/run/globalTeardown.ts',
  setupFiles: ['<rootDir>/test/support/run/longTimeBudgets.ts'],
  setupFilesAfterEnv: ['<rootDir>/test/support/run/gateRules.ts'],
  testEnvironment: 'node',
  testTimeout: 600_000,
  testSequencer: '<rootDir>/test/support/run/orderTests.js',
  reporters: ['default', '<rootDir>/test/support/run/recordResults.js'],
  maxWorkers: 3,
};
