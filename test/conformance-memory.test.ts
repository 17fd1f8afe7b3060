import { describeCoordinator } from "@sole-writer/conformance";
import { memoryFactory } from "./src/factories/memory.js";
import { suiteOptions } from "./src/rounds.js";

describeCoordinator("memoryCoordinator", memoryFactory, suiteOptions());
