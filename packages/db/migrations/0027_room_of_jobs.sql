-- The end of a job is never a HOT update, since indexes name what it changes. Room for it in the page saved 86 bytes of log a job with 64
-- under way at once and nothing with fewer, and more than doubled a table whose rows stay for good: 1,880 bytes a job, not 770.
ALTER TABLE "jobs" RESET (fillfactor);
