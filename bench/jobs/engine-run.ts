import type { EngineWork, EngineWorkName } from "../peers/engine.ts";
import type { System } from "../system.ts";

/** Lets an engine run one workflow and waits for its end. Throws unless it succeeded. */
export async function runEngine(system: System, name: EngineWorkName, work: EngineWork): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${system.port}/bench/${name}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(work),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`the engine answered ${response.status}: ${text}`);
}
