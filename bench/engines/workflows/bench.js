/**
 * Runs a step of the npm package workflow, with the same request as the server's tool. The package's build (`wf build`) reads the
 * directives below.
 */
async function readItem(origin, index) {
  "use step";
  const response = await fetch(`${origin}/items/i${index}`, { headers: { authorization: "Bearer bench" } });
  if (!response.ok) throw new Error(`the app answered ${response.status}`);
  return response.text();
}

/** Runs the given number of steps, one after the other. */
export async function chain({ origin, steps }) {
  "use workflow";
  for (let index = 0; index < steps; index += 1) await readItem(origin, index);
}
