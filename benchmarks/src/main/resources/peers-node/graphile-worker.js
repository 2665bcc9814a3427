'use strict'

if (process.argv[2] === 'tuned') {
  process.env.NO_LOG_SUCCESS = '1' // as in its own benchmark; it is read when the package is loaded
}

const { Pool } = require('pg')
const { Logger, makeWorkerUtils, run: runWorker } = require('graphile-worker')
const { run, openAll } = require('./peer')

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
  const connections = concurrency + 8
  const pool = role === 'submit' ? null : new Pool({ max: connections })
  if (pool) {
    pool.on('error', error => console.error(error))
    await openAll(connections, text => pool.query(text))
  }
  let runner = null

  async function work (jobs, ran) {
    runner = await runWorker({
      preset: {
        worker: {
          concurrentJobs: jobs,
          maxPoolSize: connections,
          ...(tuned ? BATCHES : {})
        }
      },
      pgPool: pool,
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
      if (pool) {
        await pool.end()
      }
      await utils.release()
    }
  }
})
