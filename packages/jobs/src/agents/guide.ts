/**
 * Text that check_program returns if the model has no program yet. It explains the program language in few tokens. Tests check its
 * examples.
 */
export const guide = `A program is JSON: steps that the server runs in order, over any number of rows.

${JSON.stringify({
  version: 1,
  title: "Tell the chat of large open deals, and set a follow-up for each",
  steps: [
    {
      id: "deals",
      call: "sales_crm.list_deals",
      entity: "ada",
      args: { status: "open" },
      rows: { from: "data[]", key: "id", keep: ["id", "title", "value"], page: { max: 20 } },
    },
    { id: "large", filter: "deals", where: "row.value >= 50000" },
    { id: "sorted", sort: "large", by: [{ field: "value", order: "desc" }] },
    {
      id: "follow",
      map: "sorted",
      do: [
        {
          id: "add",
          call: "sales_crm.create_activity",
          entity: "ada",
          args: { subject: { $text: "Call about {row.title}" }, deal_id: { $ref: "row.id" } },
        },
      ],
    },
    {
      id: "sum",
      reduce: "follow",
      as: {
        done: "count ok",
        worth: "sum value",
        lines: { text: { of: "- {row.title}: {row.value}", max: 10, more: "and {more} others" } },
      },
    },
    {
      id: "tell",
      call: "messaging_bot.send_message",
      entity: "ada",
      args: {
        chat_id: "@sales",
        text: { $text: "{rows.large} of {rows.deals} open deals are large:\n{steps.sum.lines}" },
      },
      when: "rows.large > 0",
    },
  ],
  result: { large: { $ref: "rows.large" }, worth: { $ref: "steps.sum.worth" } },
})}

Calls: call is a slug of search_tools; read its arguments and result with describe_tool and put them into args. entity names the account's owner. \
Without rows the answer is steps.<id>. With rows a list in it becomes a set of rows with the name of the step: from is the path of the list in the result \
("data[]"; "[]" is the result itself), keep the needed fields of an item, key the field that identifies it, page reads at most max pages. \
A destructive call needs "confirm": true in args, and its plan the approval of a person (with an approver's key).
result: named scalars, the only values that are returned to you.

Values, in any place: {"$ref": "path"}, {"$text": "Hello {path}"}, {"$cel": "expression"}; each with "else" for an absent value. \
Paths: input.x, params.x, steps.<id>.<field> (the answer of a call, the values of a reduce), rows.<set> (how many), and in the calls of a map row.<field> \
and calls.<id>.<field>. A text with braces outside $text is refused.
Expressions (when, where, if, until, $cel) are CEL over these and now: row.status == "open" && row.value > 10.0 (numbers are doubles), has(row.x), x in [..], \
timestamp(row.at) < now - duration("168h"), size(), contains, startsWith, lowerAscii, split, 'x'.format([..]), string(), double(), md5().

Steps that make a new set of a set S: {"id","filter":S,"where":"row.x > 1.0"}, {"id","sort":S,"by":[{"field":"x","order":"desc"}]}, \
{"id","limit":S,"max":10}, {"id","distinct":S,"by":["x"]}, {"id","join":S,"with":T,"on":{"x":"y"},"kind":"inner|left|anti","keep":{"n":"right.z"}}, \
{"id","group":S,"by":["x"],"as":{..as reduce}}, {"id","compute":S,"fields":{"n":"row.x * 2.0"}}, {"id","flatten":S,"field":"list","keep":{"n":"item.z"}}, \
{"id","take":"input.list","key":"id","keep":["id"]} (a list of the input as rows; write input next to steps).
map: the calls in do for each row, one after the other; "keep":{"n":"calls.<id>.x"} adds to the rows; a call may have "when"; \
"tolerate":{"count":5} lets rows fail. A map in a map is refused: keep, flatten and map again.
reduce: as {"n":"count","ok":"count ok","s":"sum x","m":"max x","l":"list x","t":{"text":{"of":"- {row.x}","separator":"\\n","max":50}}}.
Other steps: any step may have "when". {"id","if":"cond","then":[..],"else":[..]}; {"id","parallel":{"a":[..],"b":[..]}}; {"id","wait":"10m"}; \
{"id","fail":"Only {rows.x} read","when":"rows.x < 10"} (ends the job as failed with that text); \
{"id","until":"cond","do":[..],"every":"30s","max":20}; "retry":{"max":3} and "onError":{"do":[..],"then":"continue"} at a call; \
"undo":{"call":..,"args":{..{"$ref":"output.id"}}} at a call with "saga":{"on":["failed"]} next to steps.
Questions to a person: {"id","judge":"sure","when":"rows.large > 50"} and next to steps \
"points":{"sure":{"question":"Send {rows.large}?","continuations":["proceed","skip","abort"],"escalation":[{"principal":"owner"}]}}; skip leaves out the next step.

Send it to check_program until it has no errors, then to run_program; with simulate it reads and sends no write. To start a program by a schedule or by events, the project creates a standing program: svc standing create.`;
