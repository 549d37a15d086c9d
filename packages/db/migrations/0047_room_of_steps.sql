-- Of 64 jobs at once a fifth of the steps found no room in their page when they ended, and wrote new rows and index entries: 30 bytes of
-- log a job.
ALTER TABLE "job_steps" SET (fillfactor = 40);
