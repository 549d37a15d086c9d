ALTER TABLE "skills" ADD COLUMN "version" integer DEFAULT 1 NOT NULL;--> statement-breakpoint
ALTER TABLE "skills" ADD COLUMN "deleted_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "skills" DROP CONSTRAINT "skills_key";
--> statement-breakpoint
ALTER TABLE "skills" ADD CONSTRAINT "skills_key" PRIMARY KEY("project_id","slug","version");