/** Runs a seed on the model of the store. */
import { FaultPlan } from './faultPlan';
import { ModelEngine } from './model/modelEngine';
import { openModelDatabase } from './model/modelDatabase';
import { Random } from '../support/random';
import type { Backend } from './runSeed';

export interface ModelBackend extends Backend {
  readonly engine: ModelEngine;
}

export function createModelBackend(): ModelBackend {
  const engine = new ModelEngine();
  const doNothing = (): void => undefined;
  return {
    engine,
    connect: (faults, trace, clock) => openModelDatabase(engine, faults, trace, clock),
    isQuiet: () => engine.lateStatements === 0,
    steady: openModelDatabase(engine, new FaultPlan(new Random(0), doNothing), doNothing, null),
  };
}
