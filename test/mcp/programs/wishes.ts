/** Tasks that people want done, in their own words, written before any solution. */
export const wishes = {
  "worth-of-open-deals": "How many open deals do we have, and what are they worth together?",
  "tell-large-deals":
    'Post the open deals of 50000 and more in @sales as one message, the largest first, each as a line "- title: value".',
  "ask-why-lost": 'For every deal that we lost, plan an activity "Ask why" on that deal.',
  "deals-by-stage":
    'Post in @sales how many open deals are in each stage, a line "stage: number" each, the lowest stage first.',
  "comment-on-exports":
    'Comment "We are looking into it" on every issue of the team team-web whose title has the word "Export" in it.',
  "note-urgent-incidents":
    'Leave the note "Seen by support" on every triggered incident of high urgency, from support@example.com.',
  "incidents-by-status":
    "How many incidents are there of each status? A line for each, such as triggered: 3, by the alphabet.",
  "move-overdue": "Move all activities that are not done and were due before 2099-01-01 to 2099-12-01.",
  "win-back": 'Tag everyone who unsubscribed from the list news (us6) with "win-back".',
  "different-addresses": "How many different addresses, upper and lower case alike, are on the list news (us6)?",
  "best-campaign": 'Tell @marketing which sent campaign (us6) had the best open rate, as "Best: subject line".',
  "incidents-to-issues":
    "File an issue in the team team-web for every triggered incident, with the incident's title as its title.",
  "value-of-won-deals": "What is the smallest, the average and the largest value of the deals that we won?",
  "many-incidents":
    'If there are more than 5 triggered incidents, post "Many incidents" in @ops. Otherwise say nothing.',
  "quiet-or-not":
    'Post "All quiet" in @ops if no incident is acknowledged; otherwise post how many are, as "At work: number".',
  "three-contacts":
    "Add Ann (ann@example.com), Ben (ben@example.com) and Cleo (cleo@example.com) to the CRM's contacts.",
  "new-deal":
    'Create a deal "Website relaunch" worth 12000, plan an activity "Kick-off" on it, and post "Deal number is created" in @sales with its number.',
  "deals-without-next-step":
    'Which open deals have no activity that is still to do? Plan "Next step?" on each of them.',
  "report-is-out":
    'Post "The report is out" in @sales. If the chat cannot be reached, plan an activity "Tell sales of the report" instead.',
  "close-small-deals": "Mark the open deals under 1000 as lost, but ask the owner first, with how many there are.",
} as const;

/** The name of a wish. */
export type WishName = keyof typeof wishes;
