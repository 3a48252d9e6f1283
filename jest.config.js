/** Three workers run on two cores, because end-to-end tests also wait. Every test file that needs the engine
 * gets its own database on one shared server. */
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
  globalSetup: '<rootDir>/test/support/run/globalSetup.ts',
  globalTeardown: '<rootDir>/test/support/run/globalTeardown.ts',
  setupFiles: ['<rootDir>/test/support/run/longTimeBudgets.ts'],
  testEnvironment: 'node',
  testTimeout: 600_000,
  testSequencer: '<rootDir>/test/support/run/spreadTests.js',
  reporters: ['default', '<rootDir>/test/support/run/closingLine.js'],
  maxWorkers: 3,
};
