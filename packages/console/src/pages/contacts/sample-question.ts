/** Sample values for a test message to a contact (a person who answers questions). They replace the placeholders in the message's texts. */
const sample: Record<string, string> = {
  question: "This is a test. No answer is needed.",
  jobId: "job_00000000000000000000000000",
  requestId: "ask_00000000000000000000000000",
  link: "https://svc.example/console/",
};

/**
 * Returns the arguments of the tool call that sends a test message through a contact channel. Sample values replace the placeholders, such
 * as `{question}`. An escaped brace (`{{`) becomes one brace, as in a real question.
 */
export function sampleArguments(argsJson: string): string {
  return argsJson.replaceAll(/\{\{|\{(question|jobId|requestId|link)\}/g, (found, name: string | undefined) =>
    name === undefined ? "{" : (sample[name] ?? found),
  );
}
