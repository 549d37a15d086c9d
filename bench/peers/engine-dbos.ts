import { answerCommands } from "../child.ts";
import {
  createGate,
  type EngineCommands,
  type EngineWork,
  type EngineWorkName,
  importEngine,
  readItem,
} from "./engine.ts";
import { serveEngine } from "./engine-server.ts";

type Dbos = {
  setConfig(config: object): void;
  launch(): Promise<void>;
  registerWorkflow(
    run: (work: EngineWork) => Promise<void>,
    config: { name: string },
  ): (work: EngineWork) => Promise<void>;
  runStep<T>(run: () => Promise<T>, config: { name: string }): Promise<T>;
};

/** Number of connections, as in the other engines on PostgreSQL. A larger number made it no faster. */
const connectionsMax = 20;

let done = 0;

const commands: EngineCommands = {
  start: async ({ databaseUrl }) => {
    const { DBOS } = await importEngine<{ DBOS: Dbos }>("@dbos-inc/dbos-sdk");
    DBOS.setConfig({
      name: "bench",
      systemDatabaseUrl: databaseUrl,
      systemDatabasePoolSize: connectionsMax,
      runAdminServer: false,
      logLevel: "error",
    });
    const works: Record<EngineWorkName, (work: EngineWork) => Promise<void>> = {
      chain: DBOS.registerWorkflow(
        async (work) => {
          for (let index = 0; index < work.steps; index += 1)
            await DBOS.runStep(() => readItem(work, index), { name: "read" });
        },
        { name: "chain" },
      ),
      together: DBOS.registerWorkflow(
        async (work) => {
          // All steps are begun in a fixed order, because a replay needs that. The limit on parallel work applies inside them.
          const gate = createGate();
          await Promise.all(
            Array.from({ length: work.steps }, (_, index) =>
              DBOS.runStep(() => gate(() => readItem(work, index)), { name: "read" }),
            ),
          );
        },
        { name: "together" },
      ),
    };
    await DBOS.launch();
    const port = await serveEngine(async (name, work) => {
      // The function is taken out of the object, because a method call would need a configured instance.
      const run = works[name];
      await run(work);
      done += 1;
    });
    return { port, otherPids: [] };
  },
  recorded: () => done,
};

answerCommands(commands);
