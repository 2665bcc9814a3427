'use strict'

const { Logger, makeWorkerUtils, run: runWorker } = require('graphile-worker')
const { run } = require('./peer')

const TASK = 'noop'

const logger = new Logger(() => (level, message) => {
  if (level === 'error' || level === 'warning') {
    console.error(message)
  }
})

/** What its documentation on performance gives. */
const BATCHES = { localQueue: { size: 500 }, completeJobBatchDelay: 0, failJobBatchDelay: 0 }

run(async ({ tuned, role, concurrency }) => {
  const connectionString = 'postgres://' // PGHOST and so on
  const utils = await makeWorkerUtils({ connectionString, logger, maxPoolSize: 2 })
  await utils.migrate()
  let runner = null

  async function work (jobs, ran) {
    runner = await runWorker({
      preset: {
        worker: {
          connectionString,
          concurrentJobs: jobs,
          maxPoolSize: jobs + 8,
          ...(tuned ? BATCHES : {})
        }
      },
      logger,
      noHandleSignals: true,
      taskList: { [TASK]: async data => ran(data) }
    })
  }

  return {
    one: data => utils.addJob(TASK, data),
    many: portion => utils.addJobs(portion.map(data => ({ identifier: TASK, payload: data }))),
    work,
    stop: async () => {
      if (runner) {
        await runner.stop()
      }
      await utils.release()
    }
  }
})
