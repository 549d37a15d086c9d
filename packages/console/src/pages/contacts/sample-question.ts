/** Sample values that replace an ask's values in the texts of a tested contact channel. */
const sample: Record<string, string> = {
  question: "This is a test: nobody has to answer.",
  jobId: "job_00000000000000000000000000",
  requestId: "ask_00000000000000000000000000",
  link: "https://svc.example/console/",
};

/** Returns the arguments of a contact channel with a test question in place of an ask. `{{` stays a brace, as in a real ask. */
export function sampleArguments(argsJson: string): string {
  return argsJson.replaceAll(/\{\{|\{(question|jobId|requestId|link)\}/g, (found, name: string | undefined) =>
    name === undefined ? "{" : (sample[name] ?? found),
  );
}
