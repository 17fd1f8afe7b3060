export { describeCoordinator } from "./describe-coordinator.js";
export type { CoordinatorFactory, Faults, Holding, Open, OpenOptions } from "./factory.js";
export { defaultOptions, type SuiteOptions } from "./options.js";
export {
  describeFindings,
  findingsOf,
  type OracleFindings,
  type OraclePen,
  type OracleRecord,
  type OracleRun,
  oraclePen,
  readOracle,
  runsOf,
} from "./oracle.js";
