/** Three workers on two cores, since end-to-end tests also wait; every test file that needs the engine gets a database of its own on one shared server. */
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
  testTimeout: 300_000,
  reporters: ['default', '<rootDir>/test/support/run/closingLine.js'],
  maxWorkers: 3,
};
