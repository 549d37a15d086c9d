/** A step of npm workflow: the request that the server's tool makes. Its build (`wf build`) looks for the directives. */
async function readItem(origin, index) {
  "use step";
  const response = await fetch(`${origin}/items/i${index}`, { headers: { authorization: "Bearer bench" } });
  if (!response.ok) throw new Error(`the app answered ${response.status}`);
  return response.text();
}

/** So many steps, one after the other. */
export async function chain({ origin, steps }) {
  "use workflow";
  for (let index = 0; index < steps; index += 1) await readItem(origin, index);
}
