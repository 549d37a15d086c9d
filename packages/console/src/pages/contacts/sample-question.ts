/** What stands for an ask's in the texts of a reach that is tried. */
const sample: Record<string, string> = {
  question: "This is a test: nobody has to answer.",
  jobId: "job_00000000000000000000000000",
  requestId: "ask_00000000000000000000000000",
  link: "https://svc.example/console/",
};

/** The arguments of a reach with a question of a test in place of an ask's. `{{` stays a brace, as it does in a real one. */
export function sampleArguments(argsJson: string): string {
  return argsJson.replaceAll(/\{\{|\{(question|jobId|requestId|link)\}/g, (found, name: string | undefined) =>
    name === undefined ? "{" : (sample[name] ?? found),
  );
}
