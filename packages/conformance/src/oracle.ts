/** The oracle alone, without vitest: for demos and for tests that run elsewhere. */
export {
  describeFindings,
  findingsOf,
  type OracleFindings,
  type OracleRun,
  runsOf,
} from "./oracle/findings.js";
export { type OraclePen, type OracleRecord, oraclePen, readOracle } from "./oracle/record.js";
