/** Returns the program of the jobs documentation: it contains every construct that a first reader needs, and has no faults. */
export function sampleProgram() {
  return {
    version: 1,
    title: "Remind guests of open invitations",
    inputSchema: { type: "object", required: ["calendar"], properties: { calendar: { type: "string" } } },
    input: { calendar: "primary" },
    params: { minGuests: 1.0 },
    limits: { deadline: "24h", toolCalls: 5000, writes: 500, rows: 20000, asks: 10, concurrency: 8 },
    approval: { plan: "destructive", escalation: [{ principal: "head" }] },
    steps: [
      {
        id: "fetch",
        call: "calendar.list_events",
        entity: "ops",
        args: { calendar_id: { $ref: "input.calendar" }, max_results: 250 },
        rows: {
          from: "items[]",
          key: "id",
          keep: ["id", "summary", "attendees"],
          page: { arg: "page_token", from: "nextPageToken", max: 40 },
        },
        retry: { max: 4, initial: "1s", factor: 2, cap: "60s" },
        timeout: "30s",
      },
      { id: "open", filter: "fetch", where: "size(row.attendees) > params.minGuests" },
      { id: "gate", judge: "many", when: "rows.open > 50" },
      {
        id: "remind",
        map: "open",
        concurrency: 4,
        tolerate: { count: 10, percent: 5 },
        onRows: { failed: "rowsFailed", unknown: "rowsUnknown" },
        do: [
          {
            id: "send",
            call: "messaging_bot.send_message",
            entity: "ops",
            args: { chat_id: "@team", text: { $text: "Please confirm: {row.summary}" } },
            undo: {
              call: "messaging_bot.delete_message",
              entity: "ops",
              args: { chat_id: "@team", message_id: { $ref: "output.message_id" }, confirm: true },
            },
          },
        ],
      },
      { id: "sum", reduce: "remind", as: { sent: "count ok", failed: "count failed" } },
    ],
    points: {
      many: {
        question: "{rows.open} reminders would go out. Continue?",
        continuations: ["proceed", "retry-with", "abort"],
        overrides: { target: "params", rerunFrom: "open" },
        answerSchema: {
          type: "object",
          additionalProperties: false,
          properties: { minGuests: { type: "number" } },
        },
        escalation: [
          { principal: "lead", timeout: "4h" },
          { principal: "head", timeout: "20h" },
        ],
        default: { continuation: "abort" },
      },
      rowsFailed: {
        question: "Some reminders failed.",
        continuations: ["retry-with", "skip", "abort"],
        escalation: [{ principal: "lead" }],
      },
      rowsUnknown: {
        question: "Some reminders may or may not have gone out.",
        continuations: ["proceed", "skip", "abort"],
        escalation: [{ principal: "lead" }],
      },
    },
    saga: { on: ["failed", "aborted", "cancelled"] },
    result: { sent: { $ref: "steps.sum.sent" } },
  };
}
